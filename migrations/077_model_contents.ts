import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Whether events of the bot keep what they asked language models.
    alter table bots add column keeps_prompts boolean not null default false;

    -- A question to a language model and its answer, cut to a bounded length. The steps of the event's runs refer to it.
    create table model_contents (
      event_id text not null references events on delete cascade,
      key text not null,
      user_id text references users on delete cascade,
      prompt text not null,
      answer text not null,
      primary key (event_id, key)
    );
    create index model_contents_by_user on model_contents (user_id) where user_id is not null;

    -- The failures of models by their cause, in a day in UTC. A status of 0: the provider gave no answer.
    create table model_failures (
      bot_id text not null references bots on delete cascade,
      day date not null,
      model text not null,
      kind text not null,
      status integer not null,
      failures bigint not null,
      primary key (bot_id, day, model, kind, status)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table model_failures; drop table model_contents; alter table bots drop column keeps_prompts')
}
