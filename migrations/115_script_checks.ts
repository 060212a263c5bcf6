import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'answers to uploads of integrations with scripts may take 25 s: workers of the former version do not compile them'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A compilation of uploaded scripts, from its request to its outcome.
    create table script_checks (
      id text primary key,
      -- The scripts by the path of their fields in the definition.
      scripts jsonb not null,
      outcome jsonb,
      created_at timestamptz(3) not null default now()
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table script_checks')
}
