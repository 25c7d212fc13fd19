-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What the second run has and the first has not: the tables refuse by
-- themselves whatever carries no fence, or an old one.
CREATE EXTENSION IF NOT EXISTS ringfence;
SELECT ringfence.protect('fenced.campaign', fence_column => 'fence',
                         resource => 'coupons:{id}');
SELECT ringfence.protect('fenced.sale', resource => 'coupons:{campaign}');
