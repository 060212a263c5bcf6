import type { Knex } from 'knex'

/** The caution for the time in which old and new processes run side by side. */
export const untilReplaced =
  'processes of the former version let members with the role agent act as a bot: invite no agent until all processes are replaced'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table members drop constraint members_role_check,
      add constraint members_role_check check (role in ('agent', 'viewer', 'developer', 'administrator', 'owner'));
  `)
}

/** Agents lose their membership: each other role would permit them more. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from members where role = 'agent';
    alter table members drop constraint members_role_check,
      add constraint members_role_check check (role in ('viewer', 'developer', 'administrator', 'owner'));
  `)
}
