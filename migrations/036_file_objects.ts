import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- A row is committed before the bytes of its object are written, and names their store, so that the sweep finds every
    -- object that no file refers to. It outlives its bot: the sweep still has to remove the bytes.
    create table file_objects (
      id text primary key,
      bot_id text references bots on delete set null,
      store text not null check (store in ('postgres', 's3')),
      -- Both null until all bytes are written.
      size bigint,
      sha256 text,
      created_at timestamp(3) with time zone not null default now(),
      completed_at timestamp(3) with time zone
    );
    create index file_objects_by_bot on file_objects (bot_id);

    create table file_parts (
      object_id text not null references file_objects on delete cascade,
      part integer not null,
      bytes bytea not null,
      primary key (object_id, part)
    );
    -- Most contents are compressed already, and a range of an uncompressed value is read without the rest of it.
    alter table file_parts alter column bytes set storage external;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table file_parts, file_objects;')
}
