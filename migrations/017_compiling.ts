import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A worker compiles what is uploaded, and writes here what came of it. An api of the version before still sends the
    -- script in place of the source.
    alter table inspections
      add column source text,
      add column given_map text,
      alter column script drop not null,
      add column source_map text,
      -- JSON: the author’s files, as the source map carries them.
      add column files text;

    -- Likewise; null where the source map carries none, and of versions that are older than this.
    alter table bot_versions add column files text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table bot_versions drop column files;
    delete from inspections;
    alter table inspections
      drop column files,
      drop column source_map,
      alter column script set not null,
      drop column given_map,
      drop column source;
  `)
}
