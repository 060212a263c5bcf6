import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table table_jobs (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      table_id text not null references bot_tables on delete cascade,
      type text not null check (type in ('import', 'export')),
      status text not null default 'pending'
        check (status in ('pending', 'in_progress', 'finalizing', 'completed', 'failed')),
      -- Of an export.
      format text,
      is_compressed boolean,
      -- In percent.
      progress integer not null default 0,
      -- The records of the file that are stored, or failed: the next run begins after them.
      done integer not null default 0,
      input_file_id text,
      input_generation integer,
      output_file_id text,
      -- Why it failed, and which records did.
      failed_status_reason text,
      errors text[] not null default '{}',
      -- Counts its runs. A write of a run that is no longer the newest has no effect.
      run integer not null default 0,
      -- Runs that have begun since the last progress.
      attempts integer not null default 0,
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now()
    );
    create index table_jobs_by_table on table_jobs (table_id, id);
    create index table_jobs_by_bot on table_jobs (bot_id);
    create index unfinished_table_jobs on table_jobs (updated_at) where status not in ('completed', 'failed');
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table table_jobs')
}
