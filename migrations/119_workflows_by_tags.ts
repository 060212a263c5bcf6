import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index workflows_by_tags on workflows using gin (tags jsonb_path_ops) where tags <> '{}';
    -- For the deletion of passages of former contents: other files have none.
    create index files_with_former_contents on files (updated_at) where index_generation > 0;
  `)
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index workflows_by_tags; drop index files_with_former_contents')
}
