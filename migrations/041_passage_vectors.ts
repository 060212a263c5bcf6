import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- What an endpoint of embeddings says passages are about (docs/decisions/0048).
    create table passage_vectors (
      passage_id uuid primary key references passages on delete cascade,
      -- Names this vector for ever: processes keep it in memory by its number.
      number bigint generated always as identity unique,
      model text not null,
      dimensions integer not null,
      -- 32-bit floating-point numbers, the lowest byte first. The release step gives it the type "vector" where the
      -- server has pgvector.
      vector bytea not null
    );
    alter table passage_vectors alter column vector set storage external;

    alter table files
      -- When vectors of its passages are to be made; absent when nothing is to be done.
      add column embedding_due_at timestamptz,
      add column embedding_attempts integer not null default 0,
      -- The model that its passages have vectors of.
      add column embedded_model text;
    create index files_by_embedding on files (embedding_due_at) where embedding_due_at is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table passage_vectors;
    alter table files drop column embedding_due_at, drop column embedding_attempts, drop column embedded_model;
  `)
}
