import { createInterface } from 'node:readline'
import { ask, askSecretly } from './confirm.ts'
import { acceptInvitation, connect, workspacesOf } from './connection.ts'
import { misused } from './failure.ts'
import { isPlaintext } from './plaintext-warning.ts'
import type { Output } from './output.ts'
import { localName, readUrl, saveProfile, type Profile } from './profiles.ts'

type Given = { [Field in keyof Profile]: Profile[Field] | undefined } & {
  /** The secret of an invitation to a workspace, or the link to its page. */
  invitation?: string | undefined
}

/**
 * Verifies an address and a token with the platform and saves them as a profile. Missing values are prompted for at a
 * terminal.
 * @throws Failure when a value is missing or the platform refuses it
 */
export async function login(given: Given, output: Output): Promise<Profile> {
  const url = readUrl(
    given.url ??
      addressIn(given.invitation) ??
      (await askFor('Address of the platform: ', '--url https://bots.example.com')),
  )
  const name = given.name ?? new URL(url).host
  if (isPlaintext(url))
    output.note(`${url} is not encrypted: the token crosses the network unencrypted with every command`)
  if (name === localName) {
    throw misused(`"${localName}" is the platform of this machine, which needs no login: choose another --profile`)
  }
  const { token, joined } = await readCredentials({ name, url }, given, output)
  const account = { name, url, token }
  const workspaceId = joined ?? given.workspaceId ?? (await chooseWorkspace(account, output))
  const profile = { ...account, workspaceId }
  // The token of a new account is issued only once, so it is saved at once.
  if (joined !== undefined) await saveProfile(profile)
  const { ask } = await connect(profile)
  await output.during('Logging in', ask('GET', '/v1/admin/bots', { query: { pageSize: 1 } }))
  await saveProfile(profile)
  return profile
}

/** The platform’s address, read from an invitation in the form of a link. */
function addressIn(invitation: string | undefined): string | undefined {
  const [, address] = /^(https?:\/\/.+)\/console\/invitation#/.exec(invitation ?? '') ?? []
  return address
}

/** A token, and the id of the workspace whose invitation its account has accepted here. */
async function readCredentials(
  platform: Pick<Profile, 'name' | 'url'>,
  given: Given,
  output: Output,
): Promise<{ token: string; joined?: string }> {
  const secret = checked(given.token ?? (given.invitation === undefined ? await readToken() : undefined))
  const invitation = given.invitation ?? (secret?.startsWith('inv_') ? secret : undefined)
  const own = secret === invitation ? undefined : secret
  if (invitation === undefined) return { token: own! }
  const accepting = acceptInvitation({ ...platform, token: own }, invitation)
  const accepted = await output.during('Accepting the invitation', accepting)
  return { token: accepted.token ?? own!, joined: accepted.workspaceId }
}

function checked(given: string | undefined): string | undefined {
  const token = given?.trim()
  if (token === undefined || /^[\x21-\x7E]+$/.test(token)) return token
  throw misused('The token is empty or has invalid characters')
}

async function chooseWorkspace(account: Omit<Profile, 'workspaceId'>, output: Output): Promise<string> {
  const workspaces = await output.during('Logging in', workspacesOf(account))
  if (workspaces.length === 1) return workspaces[0]!.id
  if (workspaces.length === 0) {
    throw misused('The token’s account is a member of no workspace: ask an administrator to add it')
  }
  const listed = workspaces.map(({ id, name }, index) => `  ${index + 1}  ${id}  ${name}`).join('\n')
  if (!process.stdin.isTTY)
    throw misused(`The token’s account is a member of several workspaces: set --workspace to one of\n${listed}`)
  const chosen = workspaces[Number(await ask(`${listed}\nWhich workspace (1 to ${workspaces.length})? `)) - 1]
  if (chosen) return chosen.id
  throw misused('This is not one of the workspaces')
}

async function askFor(question: string, remedy: string): Promise<string> {
  if (process.stdin.isTTY) return ask(question)
  throw misused(`The platform’s address is missing: give ${remedy}`)
}

async function readToken(): Promise<string> {
  if (process.stdin.isTTY) return askSecretly('Token (not shown): ')
  for await (const line of createInterface(process.stdin)) return line
  throw misused('No token was given: pass it on standard input, as --token, or in ISOBOT_TOKEN')
}
