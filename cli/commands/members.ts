import { Argument, Option, type Command } from 'commander'
import { roles } from '#shared/models/tables.ts'
import type { AnswerOf } from '#shared/openapi/answer-of.ts'
import type { Connection } from '../connection.ts'
import { didYouMean } from '#shared/did-you-mean.ts'
import { failed } from '../failure.ts'
import { localTime, table } from '../output.ts'
import { toolsOf } from '../tools.ts'

type Member = AnswerOf<'listWorkspaceMembers'>['members'][number]

const path = '/v1/admin/workspace-members'
const memberArgument = ['<member>', 'the member’s email address or id'] as const

export function addMembersCommand(program: Command): void {
  const members = program
    .command('members')
    .summary('list and invite the members of the workspace, and change their roles')
    .description('The accounts that have access to the workspace, and the persons who are invited.')
    .addHelpText('after', '\nExample:\n  $ isobot members invite ada@example.com --role developer\n')
  addList(members)
  addInvite(members)
  addRole(members)
  addRemove(members)
}

function addList(members: Command): void {
  members
    .command('list')
    .description('Lists the members with their roles, the newest first.')
    .addHelpText('after', '\nExample:\n  $ isobot members list --json | jq -r .members[].email\n')
    .action(async (_options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const all = await output.during('Listing', listMembers(await connect()))
      output.result({ members: all }, () => {
        const rows = all.map(({ displayName, email, role, status, id, createdAt, invitationExpiresAt }) => [
          displayName,
          email,
          role,
          status === 'active' ? 'active' : `invited${invitationExpiresAt === undefined ? ', expired' : ''}`,
          localTime(createdAt),
          id,
        ])
        return table(['NAME', 'EMAIL', 'ROLE', 'STATUS', 'SINCE', 'ID'], rows)
      })
    })
}

function addInvite(members: Command): void {
  members
    .command('invite')
    .argument('<email>', 'the address of the person')
    .description(
      'Invites a person, and prints the invitation once: pass it on, because the platform sends no mail. Inviting a ' +
        'person again replaces the former invitation.',
    )
    .addOption(new Option('--role <role>', 'what the member may do').choices(roles).default('developer'))
    .addHelpText('after', '\nExample:\n  $ isobot members invite ada@example.com --role viewer\n')
    .action(async (email: string, { role }: { role: string }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { ask } = await connect()
      const invited = await ask<'createWorkspaceMember'>('POST', path, { body: { email, role } })
      const { invitationUrl, invitationExpiresAt } = invited
      output.result(
        invited,
        () =>
          `${invitationUrl}\n\n${email} becomes ${role} by opening it, or with \`isobot login --invitation\`. ` +
          `It is valid for one account${invitationExpiresAt === undefined ? '' : ` until ${localTime(invitationExpiresAt)}`}.`,
      )
    })
}

function addRole(members: Command): void {
  members
    .command('role')
    .argument(...memberArgument)
    .addArgument(new Argument('<role>', 'the new role').choices(roles))
    .description('Changes what a member may do.')
    .addHelpText('after', '\nExample:\n  $ isobot members role ada@example.com administrator\n')
    .action(async (given: string, role: string, _options: object, command: Command) => {
      const { output, connect } = toolsOf(command)
      const connection = await connect()
      const { id, role: former } = await findMember(connection, given)
      const changed = await connection.ask<'updateWorkspaceMember'>('PUT', `${path}/${id}`, { body: { role } })
      output.result({ member: changed, from: former }, `${given} is ${role} now, and was ${former}`)
    })
}

function addRemove(members: Command): void {
  members
    .command('remove')
    .argument(...memberArgument)
    .description('Removes a member, whose tokens lose access to the workspace at once, after a confirmation.')
    .option('-y, --yes', 'skip the confirmation')
    .addHelpText('after', '\nExample:\n  $ isobot members remove ada@example.com --yes\n')
    .action(async (given: string, { yes = false }: { yes?: boolean }, command: Command) => {
      const { output, connect } = toolsOf(command)
      const { confirm } = await import('../confirm.ts')
      const connection = await connect()
      const { id, email, displayName, role } = await findMember(connection, given)
      await confirm(`Remove ${displayName || email} (${role}) from the workspace?`, yes)
      await connection.ask('DELETE', `${path}/${id}`)
      output.result({ removed: { id, email } }, `Removed ${email || displayName} from the workspace`)
    })
}

function listMembers({ list }: Connection): Promise<Member[]> {
  return Array.fromAsync(list<Member>(path, 'members'))
}

/** @throws Failure when no member has this address or id */
async function findMember(connection: Connection, given: string): Promise<Member> {
  const all = await listMembers(connection)
  const found = all.find(({ id, email }) => id === given || email === given.toLowerCase())
  if (found) return found
  const near = didYouMean(
    given,
    all.map(({ email }) => email),
  )
  throw failed(
    `The workspace has no member "${given}"${near === undefined ? '.' : `; did you mean "${near}"?`} ` +
      '`isobot members list` shows them',
    { type: 'ResourceNotFound' },
  )
}
