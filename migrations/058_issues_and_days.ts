import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Groups of errors that a member has dismissed: failures up to that time are not shown as an issue again.
    create table dismissed_issues (
      bot_id text not null references bots on delete cascade,
      issue_id text not null,
      dismissed_at timestamp(3) with time zone not null default clock_timestamp(),
      primary key (bot_id, issue_id)
    );

    -- Counts of a bot on a day that is over, in UTC, made when the day is first asked for.
    create table bot_days (
      bot_id text not null references bots on delete cascade,
      day date not null,
      counts jsonb not null,
      primary key (bot_id, day)
    );
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table dismissed_issues; drop table bot_days')
}
