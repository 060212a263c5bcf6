import type { Knex } from 'knex'

/** Bytes that a file counts against the quota of its bot: as many as announced until its content is there. */
const counted = `case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end`

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table files (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      -- The caller that made its newest upsert. An integration is named as it was then: it may be removed since.
      owner_type text not null default 'bot' check (owner_type in ('bot', 'integration', 'user')),
      owner_integration text,
      owner_alias text,
      user_id text references users on delete cascade,
      -- The id of the installation that keeps it; empty for the bot and its users. A key is unique in its space.
      key_space text not null default '',
      key text collate "C" not null,
      -- The number of its upserts. An upload address is good for one of them.
      generation integer not null default 1,
      status text not null default 'upload_pending' check (status in ('upload_pending', 'upload_failed',
        'upload_completed', 'indexing_pending', 'indexing_failed', 'indexing_completed')),
      failed_status_reason text,
      -- Its content; null until that is there.
      object_id text references file_objects,
      declared_size bigint not null default 0,
      size bigint,
      sha256 text,
      content_type text not null,
      tags jsonb not null default '{}' constraint files_tags_size check (pg_column_size(tags) <= 400000),
      metadata jsonb not null default '{}' constraint files_metadata_size check (pg_column_size(metadata) <= 400000),
      access_policies text[] not null default '{}',
      index boolean not null default false,
      -- The configuration of the indexing, as it was given.
      indexing jsonb,
      -- Counts what is to be indexed: a job that was made for an older content or older passages ends without effect.
      index_generation integer not null default 0,
      -- In the permanent address of a public content.
      public_id text unique,
      -- The time of the newest upsert.
      requested_at timestamp(3) with time zone not null default now(),
      expires_at timestamp(3) with time zone,
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      unique (bot_id, key_space, key)
    );
    create index files_by_time on files (bot_id, created_at, id);
    create index files_by_user on files (user_id) where user_id is not null;
    create index files_by_object on files (object_id);
    create index files_by_expiry on files (expires_at) where expires_at is not null;
    create index files_by_request on files (requested_at) where status = 'upload_pending';
    create index files_to_index on files (updated_at) where status = 'indexing_pending';
    create index files_by_tags on files using gin (tags jsonb_path_ops) where tags <> '{}';

    create table knowledge_bases (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      name text not null,
      tags jsonb not null default '{}' constraint knowledge_bases_tags_size check (pg_column_size(tags) <= 400000),
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      unique (bot_id, name)
    );
    create index knowledge_bases_by_time on knowledge_bases (bot_id, created_at, id);

    -- The storage that the files of each bot use, which its quotas bound.
    create table file_usage (
      bot_id text primary key references bots on delete cascade,
      files bigint not null default 0,
      bytes bigint not null default 0
    );

    -- Counts every change of files, by any statement: a deleted user's files go by a foreign key, and sweeps delete too.
    create function count_files() returns trigger language plpgsql as $function$
      begin
        if tg_op = 'INSERT' then
          insert into file_usage (bot_id, files, bytes)
          select bot_id, count(*), sum(${counted}) from added group by bot_id
          on conflict (bot_id) do update
          set files = file_usage.files + excluded.files, bytes = file_usage.bytes + excluded.bytes;
        elsif tg_op = 'DELETE' then
          update file_usage set files = file_usage.files - change.files, bytes = file_usage.bytes - change.bytes
          from (select bot_id, count(*) as files, sum(${counted}) as bytes from removed group by bot_id) change
          where file_usage.bot_id = change.bot_id;
        else
          update file_usage set bytes = file_usage.bytes + change.bytes
          from (
            select bot_id, sum(bytes) as bytes from (
              select bot_id, ${counted} as bytes from added
              union all
              select bot_id, -(${counted}) from removed
            ) changes group by bot_id having sum(bytes) <> 0
          ) change
          where file_usage.bot_id = change.bot_id;
        end if;
        return null;
      end $function$;
    create trigger count_added_files after insert on files
      referencing new table as added for each statement execute function count_files();
    create trigger count_removed_files after delete on files
      referencing old table as removed for each statement execute function count_files();
    create trigger count_changed_files after update on files
      referencing old table as removed new table as added for each statement execute function count_files();
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table files, knowledge_bases, file_usage; drop function count_files;')
}
