import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The URL that is told what happens in the handovers of a workspace.
    create table inbox_webhooks (
      workspace_id text primary key references workspaces on delete cascade,
      url text not null,
      -- Encrypted; null: none.
      secret text,
      -- Consecutive failures to send the next news.
      failures integer not null default 0,
      due_at timestamptz(3) not null default now()
    );

    -- News that wait to be sent to the webhook of their workspace, in their order. They name rows and contain no texts.
    create table inbox_news (
      id bigint generated always as identity primary key,
      workspace_id text not null references inbox_webhooks on delete cascade,
      handover_id text not null references handovers on delete cascade,
      type text not null,
      -- The member who answers, of that moment.
      account_id text,
      message_id text unique references messages on delete cascade,
      created_at timestamptz(3) not null default clock_timestamp()
    );
    create index inbox_news_of_workspace on inbox_news (workspace_id, id);
    create index inbox_news_of_handover on inbox_news (handover_id);

    -- In the transaction of each change, whatever makes it: members, bots, expiry, the loss of a role.
    create function record_handover_news() returns trigger language plpgsql as $function$
    begin
      insert into inbox_news (workspace_id, handover_id, type, account_id)
      select inbox_webhooks.workspace_id, new.id, case
          when tg_op = 'INSERT' then 'handover_created'
          when new.ended_at is not null then 'handover_ended'
          when new.account_id is null then 'handover_released'
          else 'handover_assigned'
        end, new.account_id
      from bots join inbox_webhooks using (workspace_id) where bots.id = new.bot_id;
      return null;
    end $function$;
    create trigger record_new_handover after insert on handovers for each row execute function record_handover_news();
    create trigger record_handover_change after update of account_id, ended_at on handovers for each row
      when ((old.account_id, old.ended_at) is distinct from (new.account_id, new.ended_at))
      execute function record_handover_news();

    -- The handovers that a member answers now.
    create index handovers_open_of_account on handovers (account_id) where ended_at is null and account_id is not null;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop index handovers_open_of_account;
    drop trigger record_new_handover on handovers;
    drop trigger record_handover_change on handovers;
    drop function record_handover_news;
    drop table inbox_news, inbox_webhooks;
  `)
}
