import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table members
      -- In lower case, as the workspace knows the member: what an account says of itself may be anybody's address.
      add column email text,
      -- SHA-256 of the secret by which somebody becomes this member. It stays, so that a second use is told of.
      add column invitation bytea unique,
      add column invitation_expires_at timestamptz(3),
      -- Null as long as nobody has accepted: such a member has an account without tokens. Processes of the version
      -- before know nothing of it, and make workspaces meanwhile.
      add column accepted_at timestamptz(3) default now();

    update members set accepted_at = members.created_at, email = accounts.email
      from accounts where accounts.id = members.account_id;

    -- An address says nothing of who has the account's tokens: two accounts may have the same.
    alter table accounts drop constraint accounts_email_key;

    -- A workspace that added an account by its address, without having made the account, and without being made by it,
    -- cannot know who has its tokens. There the member is as one who has been invited, by an account of its own.
    create temporary table unaccepted on commit drop as
      select members.workspace_id, members.account_id, accounts.email,
        'account_0' || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 25)) as new_account_id
      from members
      join accounts on accounts.id = members.account_id
      join workspaces on workspaces.id = members.workspace_id
      where accounts.email is not null
        and members.created_at <> accounts.created_at
        and members.created_at <> workspaces.created_at;
    insert into accounts (id, name, email) select new_account_id, email, email from unaccepted;
    update members set account_id = new_account_id, accepted_at = null
      from unaccepted
      where members.workspace_id = unaccepted.workspace_id and members.account_id = unaccepted.account_id;
    delete from accounts using unaccepted
      where accounts.id = unaccepted.account_id
        and not exists (select from members where members.account_id = accounts.id);
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The version before takes an address for the account, and a member for one who has accepted.
    delete from members where accepted_at is null;
    delete from accounts where not exists (select from members where members.account_id = accounts.id);
    update accounts set email = null
      where exists (select from accounts earlier where earlier.email = accounts.email and earlier.id < accounts.id);
    alter table accounts add constraint accounts_email_key unique (email);
    alter table members
      drop column email, drop column invitation, drop column invitation_expires_at, drop column accepted_at;
  `)
}
