-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What the demo must have shown; one line for each thing that it has not.
SELECT complaint
FROM plain.verdict plain, fenced.verdict fenced,
LATERAL (VALUES
    (plain.answered = 200, 'plain: a buyer has no answer'),
    (plain.broken = 0, 'plain: promises and ledger disagree'),
    (plain.lost > 0, 'plain: no update was lost, so nothing is shown'),
    (plain.oversold > 0, 'plain: nothing was oversold'),
    (fenced.answered = 200, 'ringfence: a buyer has no answer'),
    (fenced.broken = 0, 'ringfence: promises and ledger disagree'),
    (fenced.sold = 100, 'ringfence: not 100 coupons were sold'),
    (fenced.taken = 100, 'ringfence: not 100 coupons are gone'),
    (fenced.lost = 0, 'ringfence: an update was lost'),
    (fenced.oversold = 0, 'ringfence: coupons were oversold'),
    (fenced.outdated = 0, 'ringfence: a sale rests on an outdated read'),
    (fenced.unfenced = 0, 'ringfence: a sale carries no fence'),
    (fenced.fell = 0, 'ringfence: a fence fell'),
    (fenced.refused > 0, 'ringfence: no stale write was refused')
) AS line (holds, complaint)
WHERE holds IS NOT TRUE;
