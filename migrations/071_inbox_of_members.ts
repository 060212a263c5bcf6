import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Until when each member has read a handover's messages. Without a row: none of them.
    create table handover_reads (
      handover_id text not null references handovers on delete cascade,
      account_id text not null references accounts on delete cascade,
      read_at timestamptz(3) not null,
      primary key (handover_id, account_id)
    );
    create index handover_reads_of_account on handover_reads (account_id);

    -- Members whose inbox is open, or was: a heartbeat moves the time, and no row has to be deleted.
    create table member_presences (
      workspace_id text not null,
      account_id text not null,
      is_away boolean not null default false,
      present_until timestamptz(3) not null,
      primary key (workspace_id, account_id),
      foreign key (workspace_id, account_id) references members on delete cascade
    );

    -- A deleted account leaves the user that stood for it, which stays distinct from users of the chat.
    alter table member_users drop constraint member_users_pkey,
      drop constraint member_users_account_id_fkey,
      alter column account_id drop not null,
      add constraint member_users_account_id_fkey foreign key (account_id) references accounts on delete set null,
      add constraint member_users_pkey primary key (user_id);
    create unique index member_users_of_member on member_users (installation_id, account_id);
    drop index member_users_of_user;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from member_users where account_id is null;
    alter table member_users drop constraint member_users_pkey,
      drop constraint member_users_account_id_fkey,
      alter column account_id set not null,
      add constraint member_users_account_id_fkey foreign key (account_id) references accounts on delete cascade,
      add constraint member_users_pkey primary key (installation_id, account_id);
    drop index member_users_of_member;
    create index member_users_of_user on member_users (user_id);
    drop table member_presences, handover_reads;
  `)
}
