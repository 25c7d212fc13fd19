-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- The last table: a label and the figure of each run, all from the tables; a dash
-- where there is nothing to count.
SELECT label, coalesce(p::text, '-') AS plain, f AS fenced
FROM plain.verdict plain, fenced.verdict fenced,
LATERAL (VALUES
    ('buyers who got an answer', plain.answered, fenced.answered),
    ('buyers promised a coupon', plain.promised, fenced.promised),
    ('coupons sold, says the ledger', plain.sold, fenced.sold),
    ('coupons gone, says the stock', plain.taken, fenced.taken),
    ('oversold', plain.oversold, fenced.oversold),
    ('lost updates', plain.lost, fenced.lost),
    ('sales computed from an outdated read', plain.outdated, fenced.outdated),
    ('fences that fell, in order of commit',
     plain.fell, fenced.fell),
    ('promises without a sale, or sold twice',
     plain.broken, fenced.broken),
    ('connections cut, outcome looked up', plain.cut, fenced.cut),
    ('stale writes stopped by the holder''s clock',
     plain.stopped, fenced.stopped),
    ('stale writes refused by PostgreSQL', plain.refused, fenced.refused)
) AS line (label, p, f);
