-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
BEGIN;
SELECT plan(16);

CREATE ROLE rf_other;
CREATE ROLE rf_chief SUPERUSER;
SELECT current_setting('search_path') AS path \gset
DROP EXTENSION ringfence;

-- What is refused leaves nothing, and is mended by the words of its hint.
ALTER SCHEMA ringfence OWNER TO rf_other;
SELECT throws_ok('CREATE EXTENSION ringfence', 'RF005',
    'protection is set up wrongly', 'a schema that another role owns');
SELECT is_empty($$SELECT FROM pg_extension WHERE extname = 'ringfence'$$,
    'leaves nothing behind');
ALTER SCHEMA ringfence OWNER TO CURRENT_USER;
GRANT CREATE ON SCHEMA ringfence TO rf_other;
SELECT throws_ok('CREATE EXTENSION ringfence', 'RF005', NULL,
    'one in which another role may create');
REVOKE CREATE ON SCHEMA ringfence FROM rf_other;
CREATE FUNCTION ringfence.guard(text, integer) RETURNS boolean
    LANGUAGE sql AS 'SELECT true';
SELECT throws_ok('CREATE EXTENSION ringfence', 'RF005', NULL,
    'one with a function that would be called in the place of ours');
DROP FUNCTION ringfence.guard(text, integer);
ALTER DEFAULT PRIVILEGES IN SCHEMA ringfence
    GRANT EXECUTE ON FUNCTIONS TO rf_other;
SELECT throws_ok('CREATE EXTENSION ringfence', 'RF005', NULL,
    'one that would give our functions away');
DROP SCHEMA ringfence CASCADE;
CREATE SCHEMA ringfence;
CREATE EXTENSION pgcrypto SCHEMA ringfence;
SELECT throws_ok('CREATE EXTENSION ringfence', 'RF005', NULL,
    'one that is another extension''s');
DROP EXTENSION pgcrypto;

SELECT lives_ok('CREATE EXTENSION ringfence', 'an empty one of one''s own');
SELECT is(current_setting('search_path'), :'path',
    'the search path is as it was');
DROP EXTENSION ringfence;
ALTER SCHEMA ringfence OWNER TO rf_chief;
SELECT lives_ok('CREATE EXTENSION ringfence', 'that of another superuser');
DROP EXTENSION ringfence;
DROP SCHEMA ringfence;
GRANT CREATE ON DATABASE :DBNAME TO rf_other;
SET ROLE rf_other;
SELECT throws_ok('CREATE EXTENSION ringfence', '42501', NULL,
    'an ordinary role installs nothing');
RESET ROLE;
SELECT lives_ok('CREATE EXTENSION ringfence', 'or none: it is made');

-- What changes later is found.
ALTER SCHEMA ringfence OWNER TO rf_other;
SELECT is(problem, 'rf_other owns the schema: it can drop what is in it',
    'a schema that was given away is found') FROM ringfence.audit();
SELECT lives_ok(remedy, 'the remedy runs') FROM ringfence.audit();
GRANT CREATE ON SCHEMA ringfence TO rf_other, PUBLIC;
SELECT set_eq('SELECT problem FROM ringfence.audit()',
    $$VALUES ('rf_other may create objects in the schema'),
             ('PUBLIC may create objects in the schema')$$,
    'and so are those who were let in');
DO $$DECLARE r text; BEGIN
    FOR r IN SELECT remedy FROM ringfence.audit() LOOP EXECUTE r; END LOOP;
END$$;
SELECT is_empty('SELECT * FROM ringfence.audit()', 'and all is mended');
SELECT ok(ringfence.guard('r', 1), 'and works');

SELECT * FROM finish();
ROLLBACK;
