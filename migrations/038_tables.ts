import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The owner of a database may create both extensions, unless the operator of the server has removed them: then the
    -- index of the rows has no table in it, and searches in rows compare words.
    do $do$
      declare
        wanted text;
      begin
        foreach wanted in array array['btree_gin', 'pg_trgm'] loop
          begin
            execute format('create extension if not exists %I', wanted);
          exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
            raise notice 'The extension % cannot be created: %', wanted, sqlerrm;
          end;
        end loop;
      end $do$;

    create table bot_tables (
      id text primary key,
      bot_id text not null references bots on delete cascade,
      name text not null,
      -- By the column's name. Each names the field of its values in the rows, so that a column is renamed or emptied
      -- without a change of any row (docs/decisions/0042).
      columns jsonb not null,
      required text[] not null default '{}',
      next_field integer not null,
      factor integer not null default 1 check (factor between 1 and 30),
      is_frozen boolean not null default false,
      key_column text,
      tags jsonb not null default '{}' constraint bot_tables_tags_size check (pg_column_size(tags) <= 400000),
      is_compute_enabled boolean not null default true,
      next_row_id integer not null default 1,
      -- Of table_rows, by a trigger.
      row_count integer not null default 0,
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      unique (bot_id, name)
    ) with (fillfactor = 70);

    create table table_rows (
      table_id text not null references bot_tables on delete cascade,
      id integer not null,
      -- By the fields of the columns. A field of no present column is ignored.
      data jsonb not null,
      -- The value in the key column, in a form of bounded length.
      key text collate "C",
      bytes integer not null,
      -- Fields whose computed values are out of date, and the state of each computed value by field.
      stale text[] not null default '{}',
      computed jsonb not null default '{}',
      created_at timestamp(3) with time zone not null default now(),
      updated_at timestamp(3) with time zone not null default now(),
      primary key (table_id, id)
    );
    create unique index table_rows_by_key on table_rows (table_id, key) where key is not null;
    create index stale_table_rows on table_rows (table_id, id) where stale <> '{}';

    do $do$
      begin
        if exists (select from pg_extension where extname = 'btree_gin') then
          create index table_rows_by_data on table_rows using gin (table_id, data jsonb_path_ops);
        else
          create index table_rows_by_data on table_rows using gin (data jsonb_path_ops);
        end if;
      end $do$;

    create function count_table_rows() returns trigger language plpgsql as $function$
      begin
        update bot_tables set row_count = row_count + case tg_op when 'INSERT' then changed.rows else -changed.rows end
        from (select table_id, count(*)::integer as rows from changed_rows group by table_id) changed
        where bot_tables.id = changed.table_id;
        return null;
      end $function$;
    create trigger count_added_table_rows after insert on table_rows
      referencing new table as changed_rows for each statement execute function count_table_rows();
    create trigger count_removed_table_rows after delete on table_rows
      referencing old table as changed_rows for each statement execute function count_table_rows();
  `)
}

/** The extensions stay: others may use them. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table table_rows, bot_tables; drop function count_table_rows;')
}
