import type { Knex } from 'knex'

/**
 * The calls of providers of models that all processes have in flight, where the operator bounds them: each holds a row until its
 * lease expires. Nothing is lost with these rows.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unlogged table model_slots (
      provider text not null,
      slot integer not null,
      lease uuid unique,
      bot_id text,
      expires_at timestamptz,
      primary key (provider, slot)
    )
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table model_slots')
}
