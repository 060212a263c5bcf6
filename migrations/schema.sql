-- What the migrations make; written by `npm run schema`, compared by `npm run check`.

create table accounts (
  id text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint accounts_pkey PRIMARY KEY (id)
);

create table bot_versions (
  id text not null,
  bot_id text not null,
  hash text not null,
  source text not null,
  script text not null,
  source_map text not null,
  hooks text[] not null,
  actions text[] not null,
  retry jsonb,
  created_at timestamp(3) with time zone not null default now(),
  constraint bot_versions_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint bot_versions_bot_id_id_key UNIQUE (bot_id, id),
  constraint bot_versions_pkey PRIMARY KEY (id)
);

create table bots (
  id text not null,
  workspace_id text not null,
  name text not null,
  version_id text,
  permissions jsonb not null default '{}'::jsonb,
  deployed_at timestamp(3) with time zone not null default now(),
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint bots_pkey PRIMARY KEY (id),
  constraint bots_version_fkey FOREIGN KEY (id, version_id) REFERENCES bot_versions(bot_id, id),
  constraint bots_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX bots_by_workspace ON public.bots USING btree (workspace_id, created_at DESC, id DESC);

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
  constraint conversations_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint conversations_bot_id_id_key UNIQUE (bot_id, id),
  constraint conversations_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint conversations_bot_id_owner_id_fkey FOREIGN KEY (bot_id, owner_id) REFERENCES users(bot_id, id) ON DELETE SET NULL (owner_id),
  constraint conversations_installation_id_foreign_id_key UNIQUE (installation_id, foreign_id),
  constraint conversations_pkey PRIMARY KEY (id)
);

CREATE INDEX conversations_by_owner ON public.conversations USING btree (owner_id, created_at DESC, id DESC);

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
  constraint events_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint events_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint events_direction_check CHECK ((direction = ANY (ARRAY['incoming'::text, 'outgoing'::text]))),
  constraint events_pkey PRIMARY KEY (id),
  constraint events_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processed'::text, 'ignored'::text, 'failed'::text])))
);

CREATE INDEX chat_events_by_conversation ON public.events USING btree (conversation_id, created_at) WHERE (type = 'chat:custom'::text);

CREATE INDEX events_by_bot ON public.events USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX events_by_conversation ON public.events USING btree (conversation_id);

CREATE INDEX events_waiting ON public.events USING btree (mailbox, created_at, id) WHERE (status = 'pending'::text);

create table inspections (
  id text not null,
  workspace_id text not null,
  script text not null,
  outcome jsonb,
  created_at timestamp(3) with time zone not null default now(),
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
  constraint installations_bot_id_alias_key UNIQUE (bot_id, alias),
  constraint installations_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint installations_bot_id_id_key UNIQUE (bot_id, id),
  constraint installations_pkey PRIMARY KEY (id),
  constraint installations_webhook_id_key UNIQUE (webhook_id)
);

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
  constraint logs_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint logs_level_check CHECK ((level = ANY (ARRAY['debug'::text, 'info'::text, 'warn'::text, 'error'::text]))),
  constraint logs_pkey PRIMARY KEY (id)
);

CREATE INDEX logs_by_bot ON public.logs USING btree (bot_id, created_at DESC, id DESC);

CREATE INDEX logs_by_event ON public.logs USING btree (event_id);

create table members (
  workspace_id text not null,
  account_id text not null,
  role text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint members_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint members_pkey PRIMARY KEY (workspace_id, account_id),
  constraint members_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'developer'::text, 'administrator'::text, 'owner'::text]))),
  constraint members_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id) ON DELETE CASCADE
);

CREATE INDEX members_by_account ON public.members USING btree (account_id);

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
  constraint messages_bot_id_conversation_id_fkey FOREIGN KEY (bot_id, conversation_id) REFERENCES conversations(bot_id, id) ON DELETE CASCADE,
  constraint messages_direction_check CHECK ((direction = ANY (ARRAY['incoming'::text, 'outgoing'::text]))),
  constraint messages_pkey PRIMARY KEY (id)
);

CREATE INDEX messages_by_conversation ON public.messages USING btree (conversation_id, created_at DESC, id DESC);

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
  constraint states_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint states_bot_id_type_owner_id_name_key UNIQUE (bot_id, type, owner_id, name),
  constraint states_pkey PRIMARY KEY (id),
  constraint states_type_check CHECK ((type = ANY (ARRAY['bot'::text, 'user'::text, 'conversation'::text])))
);

create table tokens (
  id text not null,
  hash bytea not null,
  kind text not null,
  account_id text,
  bot_id text,
  note text not null default ''::text,
  created_at timestamp(3) with time zone not null default now(),
  constraint tokens_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id) ON DELETE CASCADE,
  constraint tokens_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint tokens_check CHECK (((kind = 'personal'::text) = (account_id IS NOT NULL))),
  constraint tokens_check1 CHECK (((kind = 'bot'::text) = (bot_id IS NOT NULL))),
  constraint tokens_hash_key UNIQUE (hash),
  constraint tokens_kind_check CHECK ((kind = ANY (ARRAY['personal'::text, 'bot'::text]))),
  constraint tokens_pkey PRIMARY KEY (id)
);

CREATE INDEX tokens_by_account ON public.tokens USING btree (account_id);

CREATE INDEX tokens_by_bot ON public.tokens USING btree (bot_id);

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
  constraint users_bot_id_fkey FOREIGN KEY (bot_id) REFERENCES bots(id) ON DELETE CASCADE,
  constraint users_bot_id_id_key UNIQUE (bot_id, id),
  constraint users_bot_id_installation_id_fkey FOREIGN KEY (bot_id, installation_id) REFERENCES installations(bot_id, id) ON DELETE CASCADE,
  constraint users_installation_id_foreign_id_key UNIQUE (installation_id, foreign_id),
  constraint users_pkey PRIMARY KEY (id)
);

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

create table workspaces (
  id text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint workspaces_pkey PRIMARY KEY (id)
);
