-- What the migrations make; written by `npm run schema`, compared by `npm run check`.

CREATE OR REPLACE FUNCTION public.add_page_bytes(bytes bigint, value jsonb, max_bytes bigint)
 RETURNS bigint
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
      begin
        return case when bytes > max_bytes then bytes else bytes + octet_length(value::text) end;
      end $function$;

CREATE OR REPLACE FUNCTION public.count_deleted_messages()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        perform pg_advisory_xact_lock_shared(hashtext('message counts'), hashtext(bot_id))
        from (select distinct bot_id from removed) bots;
        update message_counts set counted = counted - deleted.messages
        from (
          select conversation_id, count(*) as messages from removed join message_counts using (conversation_id)
          where created_at <= counted_until group by conversation_id
        ) deleted
        where message_counts.conversation_id = deleted.conversation_id;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION public.count_files()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        if tg_op = 'INSERT' then
          insert into file_usage (bot_id, files, bytes)
          select bot_id, count(*), sum(case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end) from added group by bot_id
          on conflict (bot_id) do update
          set files = file_usage.files + excluded.files, bytes = file_usage.bytes + excluded.bytes;
        elsif tg_op = 'DELETE' then
          update file_usage set files = file_usage.files - change.files, bytes = file_usage.bytes - change.bytes
          from (select bot_id, count(*) as files, sum(case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end) as bytes from removed group by bot_id) change
          where file_usage.bot_id = change.bot_id;
        else
          update file_usage set bytes = file_usage.bytes + change.bytes
          from (
            select bot_id, sum(bytes) as bytes from (
              select bot_id, case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end as bytes from added
              union all
              select bot_id, -(case when status = 'upload_failed' then 0 else coalesce(size, declared_size) end) from removed
            ) changes group by bot_id having sum(bytes) <> 0
          ) change
          where file_usage.bot_id = change.bot_id;
        end if;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION public.count_imported_message()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        perform pg_advisory_xact_lock_shared(hashtext('message counts'), hashtext(new.bot_id));
        update message_counts set counted = counted + 1
        where conversation_id = new.conversation_id and counted_until >= new.created_at;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION public.count_table_rows()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        update bot_tables set row_count = row_count + case tg_op when 'INSERT' then changed.rows else -changed.rows end
        from (select table_id, count(*)::integer as rows from changed_rows group by table_id) changed
        where bot_tables.id = changed.table_id;
        return null;
      end $function$;

CREATE OR REPLACE FUNCTION public.delete_states()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        -- Arrays, for which a plan that was made while there were few states uses the index too.
        delete from states
        where bot_id = any(array(select distinct bot_id from removed)) and type = tg_argv[0]
          and owner_id = any(array(select id from removed));
        return null;
      end $function$;

create aggregate page_bytes(value jsonb, max_bytes bigint) (sfunc = add_page_bytes, stype = bigint, initcond = '0');

CREATE OR REPLACE FUNCTION public.record_handover_news()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    begin
      insert into inbox_news (workspace_id, handover_id, type, account_id)
      select inbox_webhooks.workspace_id, new.id, case
          when tg_op = 'INSERT' then 'handover_created'
          when new.ended_at is not null then 'handover_ended'
          when new.account_id is null then 'handover_released'
          else 'handover_assigned'
        end, new.account_id
      from bots join inbox_webhooks using (workspace_id) where bots.id = new.bot_id for key share of inbox_webhooks;
      return null;
    end $function$;

CREATE OR REPLACE FUNCTION public.refuse_external_id()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin
        raise exception 'the external id % has the shape of an internal one', new.foreign_id using errcode = 'check_violation';
      end $function$;

CREATE OR REPLACE FUNCTION public.reserve_model_usage(reservation_id text, for_bot text, this_day date, this_month date, more_tokens bigint, more_cost numeric, until timestamp with time zone, operator_budget jsonb, OUT owners text[], OUT exceeded jsonb)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
      declare
        spent record;
      begin
        -- A crash of the server may lose the counts of its last moment.
        perform set_config('synchronous_commit', 'off', true);
        select array[id, workspace_id] into owners from bots where id = for_bot;
        insert into model_spending (owner_id, period, start, bot_id, workspace_id, tokens, cost)
        select owner_id, period, start, bot_id, workspace_id, 0, 0
        from (values (owners[1], owners[1], null), (owners[2], null, owners[2])) as owner (owner_id, bot_id, workspace_id)
        cross join (values ('day', this_day), ('month', this_month)) as present (period, start)
        where owner_id is not null
        order by bot_id nulls last, period
        on conflict do nothing;

        for spent in
          select spending.bot_id, period, tokens, cost, limits, unit, limit_of, used
          from (
            select * from model_spending
            where owner_id = any(owners) and (period, start) in (('day', this_day), ('month', this_month))
            order by bot_id nulls last, period for update
          ) spending
          left join model_budgets using (owner_id)
          cross join lateral (values ('tokens', 'Tokens', tokens::numeric), ('dollars', 'Dollars', cost)) as amount (unit, suffix, used)
          cross join lateral (
            select least(
              (limits ->> (period || suffix))::numeric,
              case when spending.bot_id is null then (operator_budget ->> (period || suffix))::numeric end
            ) as limit_of
          ) bound
          order by spending.bot_id nulls last, period, unit desc
        loop
          if spent.used >= spent.limit_of then
            exceeded = jsonb_build_object(
              'owner', case when spent.bot_id is null then 'workspace' else 'bot' end,
              'period', spent.period, 'unit', spent.unit, 'spent', spent.used, 'limit', spent.limit_of
            );
            return;
          end if;
        end loop;

        update model_spending set tokens = tokens + more_tokens, cost = cost + more_cost
        where owner_id = any(owners) and (period, start) in (('day', this_day), ('month', this_month));
        insert into model_reservations (id, bot_id, owners, day, month, tokens, cost, expires_at)
        select reservation_id, for_bot, owners, this_day, this_month, more_tokens, more_cost, until where owners is not null;
      end $function$;

create table accounts (
  id text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now(),
  email text,
  picture_url text,
  constraint accounts_pkey PRIMARY KEY (id)
);

create table analytics (
  bot_id text not null,
  name text not null,
  day date not null,
  count bigint not null,
  constraint analytics_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint analytics_pkey PRIMARY KEY (bot_id, name, day)
);

create table audit_records (
  id text not null,
  workspace_id text,
  account_id text not null,
  account_email text,
  operation text not null,
  fields text not null,
  resource_id text,
  resource_name text,
  outcome text not null default 'unknown'::text,
  created_at timestamp(3) with time zone not null default clock_timestamp(),
  constraint audit_records_outcome_check CHECK ((outcome = ANY (ARRAY['unknown'::text, 'done'::text]))),
  constraint audit_records_pkey PRIMARY KEY (id)
);

CREATE INDEX audit_records_by_account ON public.audit_records USING btree (account_id, created_at DESC, id DESC) WHERE (workspace_id IS NULL);

CREATE INDEX audit_records_by_workspace ON public.audit_records USING btree (workspace_id, created_at DESC, id DESC);

create table authorizations (
  token_hash bytea not null,
  installation_id text not null,
  bot_id text not null,
  link text not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  constraint authorizations_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES installations(id) ON DELETE CASCADE,
  constraint authorizations_pkey PRIMARY KEY (token_hash)
);

CREATE INDEX authorizations_by_expiry ON public.authorizations USING btree (expires_at);

CREATE INDEX authorizations_by_installation ON public.authorizations USING btree (installation_id);

create table bot_activity (
  bot_id text not null,
  seconds integer not null,
  at timestamp(0) with time zone not null,
  processed integer not null,
  failed integer not null,
  ignored integer not null,
  retried integer not null,
  put_back integer not null,
  handling jsonb not null,
  waiting jsonb not null,
  constraint bot_activity_pkey PRIMARY KEY (bot_id, seconds, at),
  constraint bot_activity_seconds_check CHECK ((seconds = ANY (ARRAY[60, 900])))
);

CREATE INDEX bot_activity_by_age ON public.bot_activity USING btree (seconds, at);

create table bot_days (
  bot_id text not null,
  day date not null,
  counts jsonb not null,
  constraint bot_days_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint bot_days_pkey PRIMARY KEY (bot_id, day)
);

create table bot_tables (
  id text not null,
  bot_id text not null,
  name text not null,
  columns jsonb not null,
  required text[] not null default '{}'::text[],
  next_field integer not null,
  factor integer not null default 1,
  is_frozen boolean not null default false,
  key_column text,
  tags jsonb not null default '{}'::jsonb,
  is_compute_enabled boolean not null default true,
  next_row_id integer not null default 1,
  row_count integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  recompute_due_at timestamp with time zone,
  recompute_event_id text,
  constraint bot_tables_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint bot_tables_bot_id_name_key UNIQUE (bot_id, name),
  constraint bot_tables_factor_check CHECK (((factor >= 1) AND (factor <= 30))),
  constraint bot_tables_pkey PRIMARY KEY (id),
  constraint bot_tables_tags_size CHECK ((pg_column_size(tags) <= 400000))
);

CREATE INDEX tables_by_recompute ON public.bot_tables USING btree (recompute_due_at) WHERE (recompute_due_at IS NOT NULL);

create table bot_versions (
  id text not null,
  bot_id text not null,
  hash text not null,
  source text,
  script text,
  source_map text,
  hooks text[] not null,
  actions text[] not null,
  retry jsonb,
  created_at timestamp(3) with time zone not null default now(),
  kind text not null default 'native'::text,
  name text,
  description text,
  files text,
  author_id text,
  flows text,
  has_flows_in_code boolean not null default false,
  layouts text,
  starts_with_conversation boolean not null default false,
  renamed_nodes jsonb,
  bundle_id text,
  action_definitions jsonb,
  constraint bot_versions_author_id_fkey FOREIGN KEY (author_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint bot_versions_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint bot_versions_bot_id_id_key UNIQUE (bot_id, id),
  constraint bot_versions_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES bundles(id),
  constraint bot_versions_kind_check CHECK ((kind = ANY (ARRAY['native'::text, 'sdk'::text]))),
  constraint bot_versions_pkey PRIMARY KEY (id)
);

CREATE INDEX bot_versions_by_bundle ON public.bot_versions USING btree (bundle_id) WHERE (bundle_id IS NOT NULL);

create table bots (
  id text not null,
  workspace_id text not null,
  name text not null,
  version_id text,
  permissions jsonb not null default '{}'::jsonb,
  deployed_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  definition jsonb not null default '{}'::jsonb,
  secrets text,
  limits jsonb not null default '{}'::jsonb,
  url text,
  keeps_prompts boolean not null default false,
  retention jsonb not null default '{}'::jsonb,
  deletion_began_at timestamp with time zone,
  constraint bots_pkey PRIMARY KEY (id),
  constraint bots_version_fkey FOREIGN KEY (id, version_id) REFERENCES bot_versions(bot_id, id),
  constraint bots_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX bots_by_workspace ON public.bots USING btree (workspace_id, created_at DESC, id DESC);

create table bundles (
  id text not null,
  kind text not null,
  source text not null,
  script text,
  source_map text not null,
  files text,
  used_at timestamp(3) with time zone not null default now(),
  given_map text,
  constraint bundles_kind_check CHECK ((kind = ANY (ARRAY['native'::text, 'sdk'::text]))),
  constraint bundles_pkey PRIMARY KEY (id)
);

create table canned_replies (
  id text not null,
  workspace_id text not null,
  shortcut text not null,
  text text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint canned_replies_pkey PRIMARY KEY (id),
  constraint canned_replies_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint canned_replies_workspace_id_shortcut_key UNIQUE (workspace_id, shortcut)
);

CREATE INDEX canned_replies_of_workspace ON public.canned_replies USING btree (workspace_id, created_at DESC, id DESC);

create table conversation_signals (
  conversation_id text not null,
  bot_id text not null,
  created_at timestamp(3) with time zone not null,
  signal jsonb not null,
  constraint conversation_signals_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint conversation_signals_pkey PRIMARY KEY (conversation_id, created_at)
);

CREATE INDEX conversation_signals_by_age ON public.conversation_signals USING btree (created_at);

create table conversations (
  id text not null,
  bot_id text not null,
  installation_id text not null,
  foreign_id text,
  owner_id text,
  channel text not null,
  tags jsonb not null default '{}'::jsonb,
  clock timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  sequence integer not null default 0,
  properties jsonb not null default '{}'::jsonb,
  handover_id text,
  messaged_at timestamp(3) with time zone not null default now(),
  messaged_in timestamp(3) with time zone not null generated always as (date_bin('00:10:00'::interval, messaged_at, '2000-01-01 00:00:00+00'::timestamp with time zone)) stored,
  constraint conversations_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint conversations_bot_id_id_key UNIQUE (bot_id, id),
  constraint conversations_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint conversations_bot_id_owner_id_fkey FOREIGN KEY (bot_id, owner_id) REFERENCES users(bot_id, id) ON DELETE SET NULL (owner_id),
  constraint conversations_installation_id_foreign_id_key UNIQUE (installation_id, foreign_id),
  constraint conversations_pkey PRIMARY KEY (id),
  constraint conversations_properties_size CHECK ((pg_column_size(properties) <= 400000)) NOT VALID,
  constraint conversations_tags_size CHECK ((pg_column_size(tags) <= 400000)) NOT VALID
);

CREATE INDEX conversations_by_bot ON public.conversations USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX conversations_by_message ON public.conversations USING btree (bot_id, messaged_in DESC);

CREATE INDEX conversations_by_owner ON public.conversations USING btree (owner_id, created_at DESC, id DESC);

CREATE INDEX conversations_by_tags ON public.conversations USING gin (tags jsonb_path_ops) WHERE (tags <> '{}'::jsonb);

CREATE INDEX conversations_by_update ON public.conversations USING btree (bot_id, updated_at DESC, id DESC);

CREATE TRIGGER delete_states AFTER DELETE ON public.conversations REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION delete_states('conversation');

CREATE TRIGGER refuse_external_id BEFORE INSERT ON public.conversations FOR EACH ROW WHEN ((new.foreign_id ~ '^(user|bot|conv|msg|evt)_[0-7][0-9A-HJKMNP-TV-Z]{25}$'::text)) EXECUTE FUNCTION refuse_external_id();

create table data_findings (
  request_id text not null,
  id text not null,
  kind text not null,
  bot_id text not null,
  address jsonb not null,
  constraint data_findings_pkey PRIMARY KEY (request_id, id),
  constraint data_findings_request_id_fkey FOREIGN KEY (request_id) REFERENCES data_requests(id) ON DELETE CASCADE
);

create table data_request_ids (
  request_id text not null,
  kind text not null,
  id text not null,
  bot_id text not null,
  constraint data_request_ids_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'conversation'::text]))),
  constraint data_request_ids_pkey PRIMARY KEY (request_id, kind, id),
  constraint data_request_ids_request_id_fkey FOREIGN KEY (request_id) REFERENCES data_requests(id) ON DELETE CASCADE
);

create table data_requests (
  id text not null,
  workspace_id text not null,
  account_id text,
  bot_id text,
  erases_findings boolean not null,
  status text not null default 'pending'::text,
  subject text,
  stage text not null default 'users'::text,
  "position" jsonb not null default '{}'::jsonb,
  erased jsonb not null default '{}'::jsonb,
  searched bigint not null default 0,
  failure_reason text,
  run integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  completed_at timestamp(3) with time zone,
  constraint data_requests_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint data_requests_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint data_requests_pkey PRIMARY KEY (id),
  constraint data_requests_stage_check CHECK ((stage = ANY (ARRAY['users'::text, 'conversations'::text, 'runs'::text, 'search'::text, 'findings'::text]))),
  constraint data_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'completed'::text, 'failed'::text]))),
  constraint data_requests_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX data_requests_due ON public.data_requests USING btree (due_at) WHERE (status = ANY (ARRAY['pending'::text, 'in_progress'::text]));

CREATE INDEX data_requests_of_account ON public.data_requests USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX data_requests_of_bot ON public.data_requests USING btree (bot_id) WHERE (bot_id IS NOT NULL);

CREATE INDEX data_requests_of_workspace ON public.data_requests USING btree (workspace_id, created_at DESC, id DESC);

create table disabled_code (
  bot_id text not null,
  code_id text not null,
  reason text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint disabled_code_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint disabled_code_pkey PRIMARY KEY (bot_id, code_id)
);

create table dismissed_issues (
  bot_id text not null,
  issue_id text not null,
  dismissed_at timestamp(3) with time zone not null default clock_timestamp(),
  constraint dismissed_issues_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint dismissed_issues_pkey PRIMARY KEY (bot_id, issue_id)
);

create table effects (
  event_id text not null,
  operation text not null,
  ordinal integer not null,
  input_hash text not null,
  result jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint effects_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE,
  constraint effects_pkey PRIMARY KEY (event_id, operation, ordinal)
);

create table events (
  id text not null,
  bot_id text not null,
  mailbox text not null,
  conversation_id text,
  user_id text,
  message_id text,
  integration text,
  type text not null,
  direction text not null default 'incoming'::text,
  payload jsonb not null,
  status text not null default 'pending'::text,
  attempt integer not null default 0,
  failures integer not null default 0,
  available_at timestamp(3) with time zone not null default now(),
  failure_reason text,
  result jsonb,
  started_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  installation_id text,
  workflow_id text,
  runs jsonb,
  handover_id text,
  constraint events_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint events_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint events_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint events_direction_check CHECK ((direction = ANY (ARRAY['incoming'::text, 'outgoing'::text]))),
  constraint events_pkey PRIMARY KEY (id),
  constraint events_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'canceled'::text, 'pending'::text, 'processed'::text, 'ignored'::text, 'failed'::text])))
);

CREATE INDEX chat_events_by_conversation ON public.events USING btree (conversation_id, created_at) WHERE (type = 'chat:custom'::text);

CREATE INDEX events_by_bot ON public.events USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX events_by_conversation ON public.events USING btree (conversation_id);

CREATE INDEX events_by_installation ON public.events USING btree (installation_id) WHERE (installation_id IS NOT NULL);

CREATE INDEX events_failed ON public.events USING btree (bot_id, ended_at DESC, id DESC) WHERE (status = 'failed'::text);

CREATE INDEX events_of_workflows ON public.events USING btree (workflow_id) WHERE ((status = 'pending'::text) AND (workflow_id IS NOT NULL));

CREATE INDEX events_registrations ON public.events USING btree (installation_id, created_at DESC, id DESC) WHERE (type = ANY (ARRAY['register'::text, 'unregister'::text]));

CREATE INDEX events_scheduled ON public.events USING btree (available_at) WHERE (status = 'scheduled'::text);

CREATE INDEX events_waiting ON public.events USING btree (mailbox, created_at, id) WHERE (status = 'pending'::text);

create table file_objects (
  id text not null,
  bot_id text,
  store text not null,
  size bigint,
  sha256 text,
  created_at timestamp(3) with time zone not null default now(),
  completed_at timestamp(3) with time zone,
  constraint file_objects_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE SET NULL,
  constraint file_objects_pkey PRIMARY KEY (id),
  constraint file_objects_store_check CHECK ((store = ANY (ARRAY['postgres'::text, 's3'::text])))
);

CREATE INDEX file_objects_by_bot ON public.file_objects USING btree (bot_id);

create table file_parts (
  object_id text not null,
  part integer not null,
  bytes bytea not null,
  constraint file_parts_object_id_fkey FOREIGN KEY (object_id) REFERENCES file_objects(id) ON DELETE CASCADE,
  constraint file_parts_pkey PRIMARY KEY (object_id, part)
);

create table file_usage (
  bot_id text not null,
  files bigint not null default 0,
  bytes bigint not null default 0,
  constraint file_usage_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint file_usage_pkey PRIMARY KEY (bot_id)
);

create table files (
  id text not null,
  bot_id text not null,
  owner_type text not null default 'bot'::text,
  owner_integration text,
  owner_alias text,
  user_id text,
  key_space text not null default ''::text,
  key text not null,
  generation integer not null default 1,
  status text not null default 'upload_pending'::text,
  failed_status_reason text,
  object_id text,
  declared_size bigint not null default 0,
  size bigint,
  sha256 text,
  content_type text not null,
  tags jsonb not null default '{}'::jsonb,
  metadata jsonb not null default '{}'::jsonb,
  access_policies text[] not null default '{}'::text[],
  index boolean not null default false,
  indexing jsonb,
  index_generation integer not null default 0,
  public_id text,
  requested_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  index_attempts integer not null default 0,
  index_attempted integer,
  embedding_due_at timestamp with time zone,
  embedding_attempts integer not null default 0,
  embedded_model text,
  constraint files_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint files_bot_id_key_space_key_key UNIQUE (bot_id, key_space, key),
  constraint files_metadata_size CHECK ((pg_column_size(metadata) <= 400000)),
  constraint files_object_id_fkey FOREIGN KEY (object_id) REFERENCES file_objects(id),
  constraint files_owner_type_check CHECK ((owner_type = ANY (ARRAY['bot'::text, 'integration'::text, 'user'::text]))),
  constraint files_pkey PRIMARY KEY (id),
  constraint files_public_id_key UNIQUE (public_id),
  constraint files_status_check CHECK ((status = ANY (ARRAY['upload_pending'::text, 'upload_failed'::text, 'upload_completed'::text, 'indexing_pending'::text, 'indexing_failed'::text, 'indexing_completed'::text]))),
  constraint files_tags_size CHECK ((pg_column_size(tags) <= 400000)),
  constraint files_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE TRIGGER count_added_files AFTER INSERT ON public.files REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_files();

CREATE TRIGGER count_changed_files AFTER UPDATE ON public.files REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION count_files();

CREATE TRIGGER count_removed_files AFTER DELETE ON public.files REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_files();

CREATE INDEX files_by_embedding ON public.files USING btree (embedding_due_at) WHERE (embedding_due_at IS NOT NULL);

CREATE INDEX files_by_expiry ON public.files USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX files_by_object ON public.files USING btree (object_id);

CREATE INDEX files_by_request ON public.files USING btree (requested_at) WHERE (status = 'upload_pending'::text);

CREATE INDEX files_by_tags ON public.files USING gin (tags jsonb_path_ops) WHERE (tags <> '{}'::jsonb);

CREATE INDEX files_by_time ON public.files USING btree (bot_id, created_at, id);

CREATE INDEX files_by_user ON public.files USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX files_to_index ON public.files USING btree (updated_at) WHERE (status = 'indexing_pending'::text);

CREATE INDEX files_with_former_contents ON public.files USING btree (updated_at) WHERE (index_generation > 0);

create table handover_notes (
  id text not null,
  handover_id text not null,
  account_id text,
  name text not null,
  text text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint handover_notes_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint handover_notes_handover_id_fkey FOREIGN KEY (handover_id) REFERENCES handovers(id) ON DELETE CASCADE,
  constraint handover_notes_pkey PRIMARY KEY (id)
);

CREATE INDEX handover_notes_of_account ON public.handover_notes USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX handover_notes_of_handover ON public.handover_notes USING btree (handover_id, created_at DESC, id DESC);

create table handover_reads (
  handover_id text not null,
  account_id text not null,
  read_at timestamp(3) with time zone not null,
  constraint handover_reads_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint handover_reads_handover_id_fkey FOREIGN KEY (handover_id) REFERENCES handovers(id) ON DELETE CASCADE,
  constraint handover_reads_pkey PRIMARY KEY (handover_id, account_id)
);

CREATE INDEX handover_reads_of_account ON public.handover_reads USING btree (account_id);

create table handovers (
  id text not null,
  bot_id text not null,
  conversation_id text not null,
  status text not null,
  title text,
  description text,
  requested_by text not null,
  account_id text,
  created_at timestamp(3) with time zone not null default now(),
  assigned_at timestamp(3) with time zone,
  first_reply_at timestamp(3) with time zone,
  expires_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  event_id text,
  source_conversation_id text,
  constraint handovers_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint handovers_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint handovers_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
  constraint handovers_pkey PRIMARY KEY (id),
  constraint handovers_requested_by_check CHECK ((requested_by = ANY (ARRAY['bot'::text, 'member'::text, 'integration'::text]))),
  constraint handovers_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'assigned'::text, 'resolved'::text, 'expired'::text])))
);

CREATE INDEX handovers_due ON public.handovers USING btree (expires_at) WHERE ((ended_at IS NULL) AND (expires_at IS NOT NULL));

CREATE UNIQUE INDEX handovers_in_progress ON public.handovers USING btree (conversation_id) WHERE (ended_at IS NULL);

CREATE INDEX handovers_of_account ON public.handovers USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX handovers_of_bot ON public.handovers USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX handovers_of_conversation ON public.handovers USING btree (conversation_id);

CREATE INDEX handovers_of_source ON public.handovers USING btree (source_conversation_id) WHERE (source_conversation_id IS NOT NULL);

CREATE INDEX handovers_open ON public.handovers USING btree (bot_id, created_at DESC, id DESC) WHERE (ended_at IS NULL);

CREATE INDEX handovers_open_of_account ON public.handovers USING btree (account_id) WHERE ((ended_at IS NULL) AND (account_id IS NOT NULL));

CREATE TRIGGER record_handover_change AFTER UPDATE OF account_id, ended_at ON public.handovers FOR EACH ROW WHEN (((old.ended_at IS NULL) AND ((old.account_id IS DISTINCT FROM new.account_id) OR (old.ended_at IS DISTINCT FROM new.ended_at)))) EXECUTE FUNCTION record_handover_news();

CREATE TRIGGER record_new_handover AFTER INSERT ON public.handovers FOR EACH ROW EXECUTE FUNCTION record_handover_news();

create table idempotency_keys (
  id bytea not null,
  fingerprint bytea not null,
  reply text,
  created_at timestamp(3) with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (id)
);

CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);

create table identities (
  issuer text not null,
  subject text not null,
  account_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint identities_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint identities_pkey PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_by_account ON public.identities USING btree (account_id);

create table inbox_news (
  id bigint not null generated always as identity,
  workspace_id text not null,
  handover_id text not null,
  type text not null,
  account_id text,
  message_id text,
  created_at timestamp(3) with time zone not null default clock_timestamp(),
  constraint inbox_news_handover_id_fkey FOREIGN KEY (handover_id) REFERENCES handovers(id) ON DELETE CASCADE,
  constraint inbox_news_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE,
  constraint inbox_news_message_id_key UNIQUE (message_id),
  constraint inbox_news_pkey PRIMARY KEY (id),
  constraint inbox_news_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES inbox_webhooks(workspace_id) ON DELETE CASCADE
);

CREATE INDEX inbox_news_of_handover ON public.inbox_news USING btree (handover_id);

CREATE INDEX inbox_news_of_workspace ON public.inbox_news USING btree (workspace_id, id);

create table inbox_webhooks (
  workspace_id text not null,
  url text not null,
  secret text,
  failures integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  constraint inbox_webhooks_pkey PRIMARY KEY (workspace_id),
  constraint inbox_webhooks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table inspections (
  id text not null,
  workspace_id text not null,
  script text,
  outcome jsonb,
  created_at timestamp(3) with time zone not null default now(),
  kind text not null default 'native'::text,
  limits jsonb not null default '{}'::jsonb,
  source text,
  given_map text,
  source_map text,
  files text,
  flows text,
  has_flows_in_code boolean not null default false,
  secrets text,
  bundle_id text,
  constraint inspections_kind_check CHECK ((kind = ANY (ARRAY['native'::text, 'sdk'::text]))),
  constraint inspections_pkey PRIMARY KEY (id),
  constraint inspections_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

create table installations (
  id text not null,
  bot_id text not null,
  integration text not null,
  alias text not null,
  webhook_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  configuration text,
  has_webhook boolean not null default false,
  integration_id text,
  enabled boolean not null default true,
  configuration_type text,
  disabled_channels text[] not null default '{}'::text[],
  status text not null default 'registered'::text,
  status_reason text,
  identifier text,
  sandbox_identifiers jsonb,
  schedule text,
  schedule_from timestamp(3) with time zone,
  next_register_at timestamp(3) with time zone,
  register_failures integer not null default 0,
  integration_workspace_id text,
  removal_requested_at timestamp with time zone,
  constraint installations_bot_id_alias_key UNIQUE (bot_id, alias),
  constraint installations_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint installations_bot_id_id_key UNIQUE (bot_id, id),
  constraint installations_check CHECK ((((schedule IS NULL) = (schedule_from IS NULL)) AND ((schedule IS NOT NULL) OR (next_register_at IS NULL)))),
  constraint installations_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id),
  constraint installations_pkey PRIMARY KEY (id),
  constraint installations_schedule_check CHECK ((schedule = ANY (ARRAY['hourly'::text, 'daily'::text, 'weekly'::text, 'bi-weekly'::text, 'monthly'::text, 'bi-monthly'::text, 'quarterly'::text, 'yearly'::text]))),
  constraint installations_status_check CHECK ((status = ANY (ARRAY['registration_pending'::text, 'registered'::text, 'registration_failed'::text, 'unregistration_pending'::text, 'unregistered'::text, 'unregistration_failed'::text]))),
  constraint installations_webhook_id_key UNIQUE (webhook_id)
);

CREATE UNIQUE INDEX installations_by_identifier ON public.installations USING btree (integration_workspace_id, integration, identifier) WHERE (identifier IS NOT NULL);

CREATE INDEX installations_by_integration ON public.installations USING btree (integration_id);

CREATE INDEX installations_to_register ON public.installations USING btree (schedule, next_register_at) WHERE (schedule IS NOT NULL);

CREATE INDEX installations_to_remove ON public.installations USING btree (removal_requested_at) WHERE (removal_requested_at IS NOT NULL);

create table integrations (
  id text not null,
  workspace_id text not null,
  name text not null,
  version text not null,
  definition jsonb not null,
  kind text not null,
  code_id text not null,
  hash text not null,
  source text,
  script text,
  source_map text,
  secrets text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  permissions jsonb not null default '{}'::jsonb,
  url text,
  bundle_id text,
  constraint integrations_bundle_id_fkey FOREIGN KEY (bundle_id) REFERENCES bundles(id),
  constraint integrations_code_id_key UNIQUE (code_id),
  constraint integrations_kind_check CHECK ((kind = ANY (ARRAY['native'::text, 'sdk'::text]))),
  constraint integrations_pkey PRIMARY KEY (id),
  constraint integrations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX integrations_by_age ON public.integrations USING btree (workspace_id, created_at DESC, id DESC);

CREATE INDEX integrations_by_bundle ON public.integrations USING btree (bundle_id) WHERE (bundle_id IS NOT NULL);

CREATE INDEX integrations_by_name ON public.integrations USING btree (name, created_at);

CREATE INDEX integrations_by_public_time ON public.integrations USING btree (created_at, id) WHERE ((definition ->> 'visibility'::text) = 'public'::text);

CREATE UNIQUE INDEX integrations_by_version ON public.integrations USING btree (workspace_id, name, version) WHERE (url IS NULL);

create table interfaces (
  id text not null,
  workspace_id text not null,
  name text not null,
  version text not null,
  visibility text not null,
  definition jsonb not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint interfaces_pkey PRIMARY KEY (id),
  constraint interfaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint interfaces_workspace_id_name_version_key UNIQUE (workspace_id, name, version)
);

CREATE INDEX interfaces_by_public_name ON public.interfaces USING btree (name) WHERE (visibility <> 'private'::text);

CREATE INDEX interfaces_by_public_time ON public.interfaces USING btree (created_at, id) WHERE (visibility = 'public'::text);

CREATE INDEX interfaces_by_time ON public.interfaces USING btree (workspace_id, created_at, id);

create table knowledge_bases (
  id text not null,
  bot_id text not null,
  name text not null,
  tags jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint knowledge_bases_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint knowledge_bases_bot_id_name_key UNIQUE (bot_id, name),
  constraint knowledge_bases_pkey PRIMARY KEY (id),
  constraint knowledge_bases_tags_size CHECK ((pg_column_size(tags) <= 400000))
);

CREATE INDEX knowledge_bases_by_time ON public.knowledge_bases USING btree (bot_id, created_at, id);

create unlogged table large_signals (
  id uuid not null default gen_random_uuid(),
  body text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint large_signals_pkey PRIMARY KEY (id)
);

CREATE INDEX large_signals_by_age ON public.large_signals USING btree (created_at);

create table logs (
  id bigint not null generated always as identity,
  bot_id text not null,
  event_id text,
  conversation_id text,
  level text not null,
  message text not null,
  created_at timestamp(3) with time zone not null,
  integration_id text,
  constraint logs_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint logs_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text]))),
  constraint logs_pkey PRIMARY KEY (id)
);

CREATE INDEX logs_by_bot ON public.logs USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX logs_by_event ON public.logs USING btree (event_id);

CREATE INDEX logs_by_integration ON public.logs USING btree (integration_id, bot_id, created_at DESC, id DESC) WHERE (integration_id IS NOT NULL);

create table member_messages (
  message_id text not null,
  handover_id text not null,
  account_id text,
  name text not null,
  constraint member_messages_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint member_messages_handover_id_fkey FOREIGN KEY (handover_id) REFERENCES handovers(id) ON DELETE CASCADE,
  constraint member_messages_message_id_fkey FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE,
  constraint member_messages_pkey PRIMARY KEY (message_id)
);

CREATE INDEX member_messages_of_account ON public.member_messages USING btree (account_id) WHERE (account_id IS NOT NULL);

CREATE INDEX member_messages_of_handover ON public.member_messages USING btree (handover_id);

create table member_presences (
  workspace_id text not null,
  account_id text not null,
  is_away boolean not null default false,
  present_until timestamp(3) with time zone not null,
  constraint member_presences_pkey PRIMARY KEY (workspace_id, account_id),
  constraint member_presences_workspace_id_account_id_fkey FOREIGN KEY (workspace_id, account_id) REFERENCES members(workspace_id, account_id) ON DELETE CASCADE
);

create table member_users (
  installation_id text not null,
  account_id text,
  user_id text not null,
  constraint member_users_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint member_users_installation_id_fkey FOREIGN KEY (installation_id) REFERENCES installations(id) ON DELETE CASCADE,
  constraint member_users_pkey PRIMARY KEY (user_id),
  constraint member_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX member_users_of_account ON public.member_users USING btree (account_id);

CREATE UNIQUE INDEX member_users_of_member ON public.member_users USING btree (installation_id, account_id);

create table members (
  workspace_id text not null,
  account_id text not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now(),
  email text,
  invitation bytea,
  invitation_expires_at timestamp(3) with time zone,
  accepted_at timestamp(3) with time zone default now(),
  from_claims boolean not null default false,
  constraint members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint members_invitation_key UNIQUE (invitation),
  constraint members_pkey PRIMARY KEY (workspace_id, account_id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['agent'::text, 'viewer'::text, 'developer'::text, 'administrator'::text, 'owner'::text]))),
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX members_by_account ON public.members USING btree (account_id);

create table message_counts (
  conversation_id text not null,
  counted integer not null,
  counted_until timestamp(3) with time zone not null,
  constraint message_counts_conversation_id_fkey FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE,
  constraint message_counts_pkey PRIMARY KEY (conversation_id)
);

create table messages (
  id text not null,
  bot_id text not null,
  conversation_id text not null,
  user_id text not null,
  type text not null,
  payload jsonb not null,
  metadata jsonb,
  tags jsonb not null default '{}'::jsonb,
  direction text not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  origin text,
  constraint messages_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint messages_direction_check CHECK ((direction = ANY (ARRAY['incoming'::text, 'outgoing'::text]))),
  constraint messages_origin_check CHECK ((origin = 'synthetic'::text)),
  constraint messages_pkey PRIMARY KEY (id),
  constraint messages_tags_size CHECK ((pg_column_size(tags) <= 400000)) NOT VALID
);

CREATE TRIGGER count_deleted_messages AFTER DELETE ON public.messages REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_messages();

CREATE TRIGGER count_imported_message AFTER INSERT ON public.messages FOR EACH ROW WHEN ((new.created_at < (clock_timestamp() - '00:00:01'::interval))) EXECUTE FUNCTION count_imported_message();

CREATE INDEX messages_by_bot ON public.messages USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX messages_by_conversation ON public.messages USING btree (conversation_id, created_at DESC, id DESC);

CREATE INDEX messages_by_tags ON public.messages USING gin (tags jsonb_path_ops) WHERE (tags <> '{}'::jsonb);

create table model_budgets (
  owner_id text not null,
  bot_id text,
  workspace_id text,
  limits jsonb not null,
  constraint model_budgets_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint model_budgets_check CHECK ((num_nonnulls(bot_id, workspace_id) = 1)),
  constraint model_budgets_pkey PRIMARY KEY (owner_id),
  constraint model_budgets_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX model_budgets_by_bot ON public.model_budgets USING btree (bot_id) WHERE (bot_id IS NOT NULL);

CREATE INDEX model_budgets_by_workspace ON public.model_budgets USING btree (workspace_id) WHERE (workspace_id IS NOT NULL);

create table model_contents (
  event_id text not null,
  key text not null,
  user_id text,
  prompt text not null,
  answer text not null,
  constraint model_contents_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE,
  constraint model_contents_pkey PRIMARY KEY (event_id, key),
  constraint model_contents_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE
);

CREATE INDEX model_contents_by_user ON public.model_contents USING btree (user_id) WHERE (user_id IS NOT NULL);

create table model_failures (
  bot_id text not null,
  day date not null,
  model text not null,
  kind text not null,
  status integer not null,
  failures bigint not null,
  constraint model_failures_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint model_failures_pkey PRIMARY KEY (bot_id, day, model, kind, status)
);

CREATE INDEX model_failures_by_day ON public.model_failures USING btree (day);

create table model_keys (
  id text not null,
  workspace_id text not null,
  provider text not null,
  key text not null,
  set_by text,
  set_at timestamp with time zone not null default now(),
  constraint model_keys_pkey PRIMARY KEY (id),
  constraint model_keys_set_by_fkey FOREIGN KEY (set_by) REFERENCES accounts(id) ON DELETE SET NULL,
  constraint model_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint model_keys_workspace_id_provider_key UNIQUE (workspace_id, provider)
);

CREATE INDEX model_keys_by_account ON public.model_keys USING btree (set_by) WHERE (set_by IS NOT NULL);

create table model_reservations (
  id text not null,
  bot_id text not null,
  owners text[] not null,
  day date not null,
  month date not null,
  tokens bigint not null,
  cost numeric not null,
  expires_at timestamp(3) with time zone not null,
  constraint model_reservations_pkey PRIMARY KEY (id)
);

CREATE INDEX model_reservations_by_expiry ON public.model_reservations USING btree (expires_at);

create unlogged table model_slots (
  provider text not null,
  slot integer not null,
  lease uuid,
  bot_id text,
  expires_at timestamp with time zone,
  constraint model_slots_lease_key UNIQUE (lease),
  constraint model_slots_pkey PRIMARY KEY (provider, slot)
);

create table model_spending (
  owner_id text not null,
  period text not null,
  start date not null,
  bot_id text,
  workspace_id text,
  tokens bigint not null,
  cost numeric not null,
  constraint model_spending_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint model_spending_check CHECK ((num_nonnulls(bot_id, workspace_id) = 1)),
  constraint model_spending_period_check CHECK ((period = ANY (ARRAY['day'::text, 'month'::text]))),
  constraint model_spending_pkey PRIMARY KEY (owner_id, period, start),
  constraint model_spending_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX model_spending_by_bot ON public.model_spending USING btree (bot_id) WHERE (bot_id IS NOT NULL);

CREATE INDEX model_spending_by_start ON public.model_spending USING btree (start);

CREATE INDEX model_spending_by_workspace ON public.model_spending USING btree (workspace_id) WHERE (workspace_id IS NOT NULL);

create table model_usage (
  bot_id text not null,
  day date not null,
  model text not null,
  calls bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  cost numeric not null,
  constraint model_usage_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint model_usage_pkey PRIMARY KEY (bot_id, day, model)
);

CREATE INDEX model_usage_by_day ON public.model_usage USING btree (day);

create table participants (
  conversation_id text not null,
  user_id text not null,
  bot_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint participants_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint participants_bot_id_user_id_fkey FOREIGN KEY (bot_id, user_id) REFERENCES users(bot_id, id) ON DELETE CASCADE,
  constraint participants_pkey PRIMARY KEY (conversation_id, user_id)
);

CREATE INDEX participants_by_user ON public.participants USING btree (user_id);

create table passage_vectors (
  passage_id uuid not null,
  number bigint not null generated always as identity,
  model text not null,
  dimensions integer not null,
  vector bytea not null,
  constraint passage_vectors_number_key UNIQUE (number),
  constraint passage_vectors_passage_id_fkey FOREIGN KEY (passage_id) REFERENCES passages(id) ON DELETE CASCADE,
  constraint passage_vectors_pkey PRIMARY KEY (passage_id)
);

create table passages (
  id uuid not null default gen_random_uuid(),
  file_id text not null,
  bot_id text not null,
  generation integer not null,
  "position" integer not null,
  subtype text not null,
  breadcrumb text[] not null default '{}'::text[],
  page integer,
  text text not null,
  folded text not null,
  bytes integer not null,
  terms tsvector not null,
  without_vector_of text,
  language text,
  constraint passages_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint passages_file_id_fkey FOREIGN KEY (file_id) REFERENCES files(id) ON DELETE CASCADE,
  constraint passages_file_id_generation_position_key UNIQUE (file_id, generation, "position"),
  constraint passages_pkey PRIMARY KEY (id)
);

CREATE INDEX passages_by_bot ON public.passages USING btree (bot_id, language) INCLUDE (bytes);

CREATE INDEX passages_by_terms ON public.passages USING gin (terms);

CREATE INDEX passages_by_trigrams ON public.passages USING gin (folded gin_trgm_ops);

create table plugins (
  id text not null,
  workspace_id text not null,
  name text not null,
  version text not null,
  visibility text not null,
  definition jsonb not null,
  node_code text not null,
  browser_code text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint plugins_pkey PRIMARY KEY (id),
  constraint plugins_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE,
  constraint plugins_workspace_id_name_version_key UNIQUE (workspace_id, name, version)
);

CREATE INDEX plugins_by_public_name ON public.plugins USING btree (name) WHERE (visibility <> 'private'::text);

CREATE INDEX plugins_by_public_time ON public.plugins USING btree (created_at, id) WHERE (visibility = 'public'::text);

CREATE INDEX plugins_by_time ON public.plugins USING btree (workspace_id, created_at, id);

create table preferences (
  account_id text,
  workspace_id text,
  key text not null,
  value jsonb not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint preferences_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint preferences_account_id_workspace_id_key_key UNIQUE NULLS NOT DISTINCT (account_id, workspace_id, key),
  constraint preferences_check CHECK (((account_id IS NULL) <> (workspace_id IS NULL))),
  constraint preferences_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX preferences_by_workspace ON public.preferences USING btree (workspace_id) WHERE (workspace_id IS NOT NULL);

create table recurring_events (
  bot_id text not null,
  name text not null,
  type text not null,
  payload jsonb not null,
  cron text not null,
  next_at timestamp(3) with time zone not null,
  failed_attempts integer not null default 0,
  last_failure_reason text,
  last_event_id text,
  constraint recurring_events_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint recurring_events_pkey PRIMARY KEY (bot_id, name)
);

CREATE INDEX recurring_events_due ON public.recurring_events USING btree (next_at);

create table script_checks (
  id text not null,
  scripts jsonb not null,
  outcome jsonb,
  created_at timestamp(3) with time zone not null default now(),
  constraint script_checks_pkey PRIMARY KEY (id)
);

create table script_runs (
  id text not null,
  integration_id text not null,
  script text not null,
  input jsonb not null,
  outcome jsonb,
  created_at timestamp(3) with time zone not null default now(),
  constraint script_runs_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) ON DELETE CASCADE,
  constraint script_runs_pkey PRIMARY KEY (id)
);

CREATE INDEX script_runs_by_integration ON public.script_runs USING btree (integration_id);

create table sessions (
  id text not null,
  hash bytea not null,
  account_id text not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null,
  constraint sessions_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint sessions_hash_key UNIQUE (hash),
  constraint sessions_pkey PRIMARY KEY (id)
);

CREATE INDEX sessions_by_account ON public.sessions USING btree (account_id);

CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);

create table states (
  id text not null,
  bot_id text not null,
  type text not null,
  owner_id text not null,
  name text not null,
  payload jsonb not null,
  expiry bigint,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  installation_id text,
  constraint states_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint states_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint states_by_name UNIQUE NULLS NOT DISTINCT (bot_id, type, owner_id, name, installation_id),
  constraint states_pkey PRIMARY KEY (id),
  constraint states_type_check CHECK ((type = ANY (ARRAY['bot'::text, 'user'::text, 'conversation'::text, 'workflow'::text, 'integration'::text])))
);

CREATE INDEX states_by_installation ON public.states USING btree (installation_id) WHERE (installation_id IS NOT NULL);

CREATE INDEX states_of_flows ON public.states USING btree (bot_id) WHERE (name = '$flow'::text);

CREATE INDEX states_to_expire ON public.states USING btree (expires_at) WHERE (expires_at IS NOT NULL);

create table table_jobs (
  id text not null,
  bot_id text not null,
  table_id text not null,
  type text not null,
  status text not null default 'pending'::text,
  format text,
  is_compressed boolean,
  progress integer not null default 0,
  done integer not null default 0,
  input_file_id text,
  input_generation integer,
  output_file_id text,
  failed_status_reason text,
  errors text[] not null default '{}'::text[],
  run integer not null default 0,
  attempts integer not null default 0,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint table_jobs_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint table_jobs_pkey PRIMARY KEY (id),
  constraint table_jobs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'finalizing'::text, 'completed'::text, 'failed'::text]))),
  constraint table_jobs_table_id_fkey FOREIGN KEY (table_id) REFERENCES bot_tables(id) ON DELETE CASCADE,
  constraint table_jobs_type_check CHECK ((type = ANY (ARRAY['import'::text, 'export'::text])))
);

CREATE INDEX table_jobs_by_bot ON public.table_jobs USING btree (bot_id);

CREATE INDEX table_jobs_by_table ON public.table_jobs USING btree (table_id, id);

CREATE INDEX unfinished_table_jobs ON public.table_jobs USING btree (updated_at) WHERE (status <> ALL (ARRAY['completed'::text, 'failed'::text]));

create table table_rows (
  table_id text not null,
  id integer not null,
  data jsonb not null,
  key text,
  bytes integer not null,
  stale text[] not null default '{}'::text[],
  computed jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint table_rows_pkey PRIMARY KEY (table_id, id),
  constraint table_rows_table_id_fkey FOREIGN KEY (table_id) REFERENCES bot_tables(id) ON DELETE CASCADE
);

CREATE TRIGGER count_added_table_rows AFTER INSERT ON public.table_rows REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION count_table_rows();

CREATE TRIGGER count_removed_table_rows AFTER DELETE ON public.table_rows REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION count_table_rows();

CREATE INDEX stale_table_rows ON public.table_rows USING btree (table_id, id) WHERE (stale <> '{}'::text[]);

CREATE INDEX table_rows_by_data ON public.table_rows USING gin (table_id, data jsonb_path_ops);

CREATE UNIQUE INDEX table_rows_by_key ON public.table_rows USING btree (table_id, key) WHERE (key IS NOT NULL);

create table tokens (
  id text not null,
  hash bytea not null,
  kind text not null,
  account_id text,
  bot_id text,
  note text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  integration_id text,
  constraint tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint tokens_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint tokens_check CHECK (((kind = 'personal'::text) = (account_id IS NOT NULL))),
  constraint tokens_check1 CHECK (((kind = 'bot'::text) = (bot_id IS NOT NULL))),
  constraint tokens_check2 CHECK (((kind = 'integration'::text) = (integration_id IS NOT NULL))),
  constraint tokens_hash_key UNIQUE (hash),
  constraint tokens_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) ON DELETE CASCADE,
  constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['personal'::text, 'bot'::text, 'integration'::text]))),
  constraint tokens_pkey PRIMARY KEY (id)
);

CREATE INDEX tokens_by_account ON public.tokens USING btree (account_id);

CREATE INDEX tokens_by_bot ON public.tokens USING btree (bot_id);

CREATE INDEX tokens_by_integration ON public.tokens USING btree (integration_id);

create unlogged table tunnels (
  workspace_id text not null,
  id text not null,
  account_id text not null,
  holder text not null,
  seen_at timestamp(3) with time zone not null default now(),
  constraint tunnels_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint tunnels_holder_key UNIQUE (holder),
  constraint tunnels_pkey PRIMARY KEY (workspace_id, id),
  constraint tunnels_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX tunnels_by_account ON public.tunnels USING btree (account_id);

create table users (
  id text not null,
  bot_id text not null,
  installation_id text,
  foreign_id text,
  name text,
  picture_url text,
  profile text,
  tags jsonb not null default '{}'::jsonb,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  properties jsonb not null default '{}'::jsonb,
  keys_since timestamp(3) with time zone,
  active_at timestamp(3) with time zone,
  constraint users_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint users_bot_id_id_key UNIQUE (bot_id, id),
  constraint users_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint users_installation_id_foreign_id_key UNIQUE (installation_id, foreign_id),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_properties_size CHECK ((pg_column_size(properties) <= 400000)) NOT VALID,
  constraint users_tags_size CHECK ((pg_column_size(tags) <= 400000)) NOT VALID
);

CREATE TRIGGER delete_states AFTER DELETE ON public.users REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION delete_states('user');

CREATE TRIGGER refuse_external_id BEFORE INSERT ON public.users FOR EACH ROW WHEN ((new.foreign_id ~ '^(user|bot|conv|msg|evt)_[0-7][0-9A-HJKMNP-TV-Z]{25}$'::text)) EXECUTE FUNCTION refuse_external_id();

CREATE INDEX users_by_bot ON public.users USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX users_by_tags ON public.users USING gin (tags jsonb_path_ops) WHERE (tags <> '{}'::jsonb);

CREATE INDEX users_by_update ON public.users USING btree (bot_id, updated_at DESC, id DESC);

create table webhook_bodies (
  event_id text not null,
  part integer not null,
  bytes bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint webhook_bodies_pkey PRIMARY KEY (event_id, part)
);

CREATE INDEX webhook_bodies_by_age ON public.webhook_bodies USING btree (created_at);

create table webhook_cursors (
  conversation_id text not null,
  bot_id text not null,
  delivered timestamp(3) with time zone not null,
  latest timestamp(3) with time zone not null,
  failures integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  constraint webhook_cursors_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint webhook_cursors_pkey PRIMARY KEY (conversation_id)
);

CREATE INDEX webhook_cursors_by_due ON public.webhook_cursors USING btree (due_at);

create unlogged table workers (
  id text not null,
  host text not null,
  started_at timestamp(3) with time zone not null default now(),
  seen_at timestamp(3) with time zone not null default now(),
  slots integer not null,
  in_use integer not null,
  constraint workers_pkey PRIMARY KEY (id)
);

create table workflows (
  id text not null,
  bot_id text not null,
  name text not null,
  status text not null,
  input jsonb not null default '{}'::jsonb,
  output jsonb not null default '{}'::jsonb,
  tags jsonb not null default '{}'::jsonb,
  parent_id text,
  conversation_id text,
  user_id text,
  failure_reason text,
  timeout_at timestamp(3) with time zone not null,
  completed_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  event_id text,
  continues_at timestamp with time zone,
  heard_event_id text,
  constraint workflows_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint workflows_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint workflows_bot_id_id_key UNIQUE (bot_id, id),
  constraint workflows_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES workflows(id) ON DELETE CASCADE,
  constraint workflows_pkey PRIMARY KEY (id),
  constraint workflows_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'in_progress'::text, 'failed'::text, 'completed'::text, 'listening'::text, 'paused'::text, 'timedout'::text, 'cancelled'::text]))),
  constraint workflows_tags_size CHECK ((pg_column_size(tags) <= 400000)) NOT VALID
);

CREATE TRIGGER delete_states AFTER DELETE ON public.workflows REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION delete_states('workflow');

CREATE INDEX workflows_by_bot ON public.workflows USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX workflows_by_conversation ON public.workflows USING btree (conversation_id);

CREATE INDEX workflows_by_name ON public.workflows USING btree (bot_id, name, created_at DESC, id DESC);

CREATE INDEX workflows_by_parent ON public.workflows USING btree (parent_id);

CREATE INDEX workflows_by_tags ON public.workflows USING gin (tags jsonb_path_ops) WHERE (tags <> '{}'::jsonb);

CREATE INDEX workflows_to_continue ON public.workflows USING btree (continues_at) WHERE ((status = 'in_progress'::text) OR ((status = 'listening'::text) AND (heard_event_id IS NOT NULL)));

CREATE INDEX workflows_to_time_out ON public.workflows USING btree (timeout_at) WHERE (completed_at IS NULL);

create table workspaces (
  id text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  handle text,
  profile jsonb not null default '{}'::jsonb,
  constraint workspaces_handle_key UNIQUE (handle),
  constraint workspaces_pkey PRIMARY KEY (id)
);
