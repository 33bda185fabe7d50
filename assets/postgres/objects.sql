-- Objects in the schema with their table, name and definition, in the words of objects.txt.
WITH here AS (SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
SELECT t.relname::text, concat(CASE WHEN i.indisunique THEN 'unique index ' ELSE 'index ' END, c.relname, ' on ', t.relname),
    (SELECT string_agg(coalesce(a.attname, '-'), ' ' ORDER BY k.place) FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
     LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number)
    || CASE WHEN i.indpred IS NULL THEN '' ELSE ' where' END || CASE WHEN i.indisvalid THEN '' ELSE ' invalid' END
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN here t ON t.oid = i.indrelid
UNION ALL SELECT t.relname, concat('trigger ', g.tgname, ' on ', t.relname), concat_ws(' ', g.tgtype, g.tgenabled, md5(f.prosrc))
FROM pg_trigger g JOIN here t ON t.oid = g.tgrelid JOIN pg_proc f ON f.oid = g.tgfoid WHERE NOT g.tgisinternal
UNION ALL SELECT t.relname, concat('rule ', r.rulename, ' on ', t.relname), ''
FROM pg_rewrite r JOIN here t ON t.oid = r.ev_class WHERE t.relkind = 'r'
UNION ALL SELECT t.relname, concat('column ', t.relname, '.', a.attname), format_type(a.atttypid, a.atttypmod)
FROM pg_attribute a JOIN here t ON t.oid = a.attrelid WHERE t.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
UNION ALL SELECT t.relname, concat(CASE t.relkind WHEN 'r' THEN 'table ' ELSE 'sequence ' END, t.relname),
    concat_ws(' ', t.relpersistence, CASE WHEN t.relrowsecurity THEN 'row security' END)
FROM here t WHERE t.relkind IN ('r', 'S')
