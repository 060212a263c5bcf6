import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `create index events_of_workflows on events (workflow_id) where status = 'pending' and workflow_id is not null`,
  )
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index events_of_workflows')
}
