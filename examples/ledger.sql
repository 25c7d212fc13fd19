-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- What ledger.c works on.  Each row belongs to an account's resource, so nothing
-- is booked by a program that has not claimed the account.
CREATE EXTENSION IF NOT EXISTS ringfence;
CREATE TABLE account (name text PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
CREATE TABLE entry (
    transfer text NOT NULL,
    account  text NOT NULL REFERENCES account,
    amount   bigint NOT NULL,
    PRIMARY KEY (transfer, account)
);
INSERT INTO account VALUES ('ada', 1000), ('bob', 1000), ('cleo', 1000), ('dan', 1000);
SELECT ringfence.protect('account', resource => 'account:{name}');
SELECT ringfence.protect('entry', resource => 'account:{account}');
