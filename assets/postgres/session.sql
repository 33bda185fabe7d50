-- Sets a session up, whatever server, database and role bring along. Not in the startup message, which poolers refuse.
-- A statement takes a bounded time, and a transaction stands still for one: a process that is stopped in the middle keeps nobody waiting for
-- longer. No statement runs for so long that compiling it would pay.
SET statement_timeout = '60s'; SET lock_timeout = '6s'; SET idle_in_transaction_session_timeout = '10s';
SET timezone = 'UTC'; SET standard_conforming_strings = on; SET jit = off;
-- An answer is committed when it is on the disk, at least here. Names mean what is in the schema of avert's tables, the first such on the
-- role's path, or else in the role's own. Where the role may use none, the server says so.
SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    set_config('search_path', quote_ident(coalesce((
        SELECT s.nspname FROM pg_namespace s JOIN pg_class m ON m.relnamespace = s.oid JOIN pg_class l ON l.relnamespace = s.oid
        WHERE m.relname = 'schema_migration' AND l.relname = 'schema_lock'
            AND (current_schema() IS NULL OR has_schema_privilege(s.oid, 'USAGE'))
        ORDER BY array_position(current_schemas(false), s.nspname), s.nspname LIMIT 1), current_schema())), false)
