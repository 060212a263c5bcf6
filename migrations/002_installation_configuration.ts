import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table installations
      -- Encrypted, for it holds secrets (shared/secrets.ts); null until something is configured.
      add column configuration text,
      -- The one thing of it that statements ask for: whether there is an address to tell what happens.
      add column has_webhook boolean not null default false;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table installations drop column configuration, drop column has_webhook')
}
