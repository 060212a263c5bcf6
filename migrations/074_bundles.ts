import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'workers of the former version cannot run code that is uploaded to a new api: replace all processes within an hour'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The code of an upload as it is compiled, once for all versions and integrations with the same upload.
    create table bundles (
      -- A hash of the upload.
      id text primary key,
      kind text not null check (kind in ('native', 'sdk')),
      source text not null,
      -- Null where it is the source.
      script text,
      source_map text not null,
      -- JSON: the author’s files, as the source map carries them.
      files text,
      used_at timestamptz(3) not null default now()
    );
    -- The columns of code hold that of processes of the version before, until a worker moves it.
    alter table bot_versions
      add column bundle_id text references bundles,
      alter column source drop not null,
      alter column script drop not null,
      alter column source_map drop not null;
    create index bot_versions_by_bundle on bot_versions (bundle_id) where bundle_id is not null;
    alter table integrations
      add column bundle_id text references bundles,
      alter column source drop not null,
      alter column script drop not null,
      alter column source_map drop not null;
    create index integrations_by_bundle on integrations (bundle_id) where bundle_id is not null;
    -- Without a reference: while the upload is inspected, there may be no bundle yet.
    alter table inspections add column bundle_id text;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    update bot_versions set source = bundles.source, script = coalesce(bundles.script, bundles.source),
      source_map = bundles.source_map, files = bundles.files
    from bundles where bundles.id = bundle_id;
    update integrations set source = bundles.source, script = coalesce(bundles.script, bundles.source),
      source_map = bundles.source_map
    from bundles where bundles.id = bundle_id;
    update integrations set source = '', script = '', source_map = '' where source is null;
    alter table inspections drop column bundle_id;
    alter table integrations
      drop column bundle_id,
      alter column source set not null,
      alter column script set not null,
      alter column source_map set not null;
    alter table bot_versions
      drop column bundle_id,
      alter column source set not null,
      alter column script set not null,
      alter column source_map set not null;
    drop table bundles;
  `)
}
