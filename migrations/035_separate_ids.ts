import type { Knex } from 'knex'

/** Apart from 015, whose lock on the tables must not last as long as these updates. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Created by createUser, which leaves the tag: a key that is older was made for a former user of the same id. All
    -- others came with a key that was signed elsewhere, at whatever time.
    update users set keys_since = case when jsonb_exists(tags, 'fid') then created_at end where foreign_id is not null;

    -- A chosen id that is another row's internal id is removed.
    update users set foreign_id = null
    from users own where own.id = users.foreign_id and own.installation_id = users.installation_id;
    update conversations set foreign_id = null
    from conversations own
    where own.id = conversations.foreign_id and own.installation_id = conversations.installation_id;
  `)
}

/** Ids that were removed are not restored. */
export async function down(): Promise<void> {}
