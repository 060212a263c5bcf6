import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Responses to requests with an Idempotency-Key, for requests that repeat them.
    create table idempotency_keys (
      -- SHA-256 of who asked, for which operation, and the key.
      id bytea primary key,
      -- SHA-256 of the request.
      fingerprint bytea not null,
      -- The body of the answer, encrypted with the key; null while the request is under way.
      reply text,
      created_at timestamptz(3) not null default now()
    );
    create index idempotency_keys_by_age on idempotency_keys (created_at);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table idempotency_keys')
}
