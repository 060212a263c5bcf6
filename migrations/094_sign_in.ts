import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The accounts of people who sign in with an OpenID provider.
    create table identities (
      issuer text not null,
      subject text not null,
      account_id text not null references accounts on delete cascade,
      created_at timestamptz(3) not null default now(),
      primary key (issuer, subject)
    );
    create index identities_by_account on identities (account_id);

    -- Sign-ins of browsers. The cookie is the secret of which the hash is here.
    create table sessions (
      id text primary key,
      hash bytea not null unique,
      account_id text not null references accounts on delete cascade,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null
    );
    create index sessions_by_account on sessions (account_id);
    create index sessions_by_expiry on sessions (expires_at);

    -- Whether claims of the OpenID provider gave the role, and take it away.
    alter table members add column from_claims boolean not null default false;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table members drop column from_claims;
    drop table sessions;
    drop table identities;
  `)
}
