import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { startEmbeddedPostgres } from './postgres/embedded-postgres.ts'
import { migrate } from '../migrations/migrations.ts'

/**
 * Writes the schema that the migrations make to `schema.sql`, so that a review shows schema changes in one file. With
 * `--check` it only verifies that the committed file is up to date.
 */
const file = join(import.meta.dirname, '..', 'migrations', 'schema.sql')

const query = `
  select format(E'create %stable %I (\\n  %s\\n);', case relpersistence when 'u' then 'unlogged ' else '' end, relname,
    string_agg(line, E',\\n  ' order by rank, place)) as statement, relname
  from pg_class
  join lateral (
    select 1 as rank, attnum::integer as place, format('%I %s%s%s', attname, format_type(atttypid, atttypmod),
      case when attnotnull then ' not null' else '' end,
      case when attidentity = 'a' then ' generated always as identity'
        when attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(adbin, adrelid))
        else coalesce(' default ' || pg_get_expr(adbin, adrelid), '') end) as line
    from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = pg_class.oid and attnum > 0 and not attisdropped
    union all
    select 2, row_number() over (order by conname)::integer, format('constraint %I %s', conname, pg_get_constraintdef(oid))
    from pg_constraint where conrelid = pg_class.oid and contype <> 'n'
  ) lines on true
  where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'knex%'
  group by pg_class.oid
  union all
  select indexdef || ';', tablename || ' ' || indexname from pg_indexes
  where schemaname = 'public' and tablename not like 'knex%'
    and indexname not in (select conname from pg_constraint)
  union all
  select rtrim(pg_get_functiondef(pg_proc.oid), E'\\n ') || ';', ' ' || proname from pg_proc
  where pronamespace = 'public'::regnamespace and prokind <> 'a' and proname not like 'bullmq%'
    and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
  union all
  select format('create aggregate %I(%s) (sfunc = %I, stype = %s, initcond = %L);', proname,
    pg_get_function_arguments(pg_proc.oid), aggtransfn::regproc, aggtranstype::regtype, agginitval), ' ' || proname
  from pg_aggregate join pg_proc on pg_proc.oid = aggfnoid
  where pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e')
  union all
  select pg_get_triggerdef(pg_trigger.oid) || ';', relname || ' ' || tgname
  from pg_trigger join pg_class on pg_class.oid = tgrelid
  where relnamespace = 'public'::regnamespace and not tgisinternal
  order by relname`

async function dump(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'isobot-schema-'))
  const server = await startEmbeddedPostgres({ directory, temporary: true, log() {}, settings: { fsync: 'off' } })
  const client = new Client(server.url)
  try {
    await migrate(server.url)
    await client.connect()
    const { rows } = await client.query<{ statement: string }>(query)
    const note = '-- What the migrations make; written by `npm run schema`, compared by `npm run check`.'
    return `${[note, ...rows.map(({ statement }) => statement)].join('\n\n')}\n`
  } finally {
    await client.end()
    await server.stop()
  }
}

const schema = await dump()
if (!process.argv.includes('--check')) {
  await writeFile(file, schema)
} else if (schema !== (await readFile(file, 'utf8'))) {
  console.error(
    'The migrations make another schema than migrations/schema.sql says: run "npm run schema" and commit it',
  )
  process.exitCode = 1
}
