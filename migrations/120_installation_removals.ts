import type { Knex } from 'knex'

/** A removal goes on without the process that was asked for it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table installations add column removal_requested_at timestamptz;
    create index installations_to_remove on installations (removal_requested_at) where removal_requested_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index installations_to_remove; alter table installations drop column removal_requested_at')
}
