import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { postgresFiles } from './files.ts'

const run = promisify(execFile)

/** The account that the server runs as. */
export interface PostgresAccount {
  /** Words to put before the command line. */
  readonly prefix: readonly string[]
  /** The account that the command is started as; by default that of this process. */
  readonly account?: { uid: number; gid: number }
}

/** The result of one way to run the server: an account, or the reason why it fails. */
type Attempt = PostgresAccount | { problem: string }

interface Files {
  directory: string
  /** Files that the account must be able to read and run. */
  programs: readonly string[]
}

/**
 * Finds an account for the server. An ordinary user runs it under their own account. PostgreSQL refuses to run as root,
 * so root runs it as the user `postgres`, created if needed, where that user can reach the programs and the directory;
 * otherwise (a checkout in /root, or in a private temporary folder) inside a user namespace, where the process has
 * another user's name and still owns root's files; and as the owner of the checkout if both fail.
 *
 * The data changes its owner to the account found. Existing data keeps its owner if possible, so that a user can start
 * the server after root has started it.
 */
export async function chooseAccount(files: Files): Promise<PostgresAccount> {
  const uid = process.geteuid!()
  return uid === 0 ? chooseForRoot(files) : chooseForUser(files, uid)
}

async function chooseForUser(files: Files, uid: number): Promise<PostgresAccount> {
  const owner = await stat(files.directory)
  if (owner.uid !== uid) {
    throw new Error(
      `${files.directory} belongs to the user ${owner.uid}, and this is the user ${uid}. ` +
        `Change its owner (sudo chown -R ${uid} ${files.directory}), or use another directory.`,
    )
  }
  if (hasName()) return { prefix: [] }
  const attempt = await tryNamespace(files)
  if (!('problem' in attempt)) return attempt
  throw new Error(
    `PostgreSQL needs a user with a name, and the user ${uid} has none (${attempt.problem}). ` +
      `Add a line for ${uid} to /etc/passwd, or set DATABASE_URL to a PostgreSQL server of your own.`,
  )
}

async function chooseForRoot(files: Files): Promise<PostgresAccount> {
  const owner = await stat(postgresFiles(files.directory).cluster).catch(() => undefined)
  const asOwner = () => tryAccount(files, { uid: owner!.uid, gid: owner!.gid })
  const asPostgres = () => tryPostgresUser(files)
  const inNamespace = () => tryNamespace(files)
  const asOwnerOfPrograms = () => tryOwnerOfPrograms(files)
  const ways =
    owner === undefined
      ? [asPostgres, inNamespace, asOwnerOfPrograms]
      : owner.uid === 0
        ? [inNamespace, asPostgres]
        : [asOwner, asPostgres, inNamespace]

  const problems = new Set<string>()
  for (const way of ways) {
    const attempt = await way()
    if ('problem' in attempt) {
      problems.add(attempt.problem)
      continue
    }
    await changeOwner(files.directory, attempt.account ?? { uid: 0, gid: 0 })
    return attempt
  }
  throw new Error(
    [
      'PostgreSQL refuses to run as root, and no other way to run it works here:',
      ...[...problems].map((problem) => `  - ${problem}`),
      'Do one of these:',
      ...(await remedies(files)).map((remedy) => `  - ${remedy}`),
    ].join('\n'),
  )
}

async function changeOwner(directory: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  const owners = await Promise.all(
    [directory, postgresFiles(directory).cluster].map((path) => stat(path).catch(() => undefined)),
  )
  if (owners.every((owner) => owner === undefined || owner.uid === uid)) return
  await run('chown', ['-R', '-h', `${uid}:${gid}`, directory])
}

async function tryPostgresUser(files: Files): Promise<Attempt> {
  const existing = await findUser(({ name }) => name === 'postgres')
  if (existing) return tryAccount(files, existing)

  // Creating a user changes the machine, so first check that an unprivileged user could run the server.
  const unprivileged = await tryAccount(files, { uid: 65_534, gid: 65_534 })
  if ('problem' in unprivileged) return unprivileged
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'])
  } catch (error) {
    // A concurrent start may have created the user.
    if (!(await findUser(({ name }) => name === 'postgres'))) {
      return { problem: `the user "postgres" could not be created (${firstLine(error)})` }
    }
  }
  const made = await findUser(({ name }) => name === 'postgres')
  return made ? tryAccount(files, made) : { problem: 'the user "postgres" was created, but is not in /etc/passwd' }
}

/** Tries the owner of the programs: root may use a user's private checkout. */
async function tryOwnerOfPrograms(files: Files): Promise<Attempt> {
  const { uid } = await stat(files.programs[0]!)
  const owner = await findUser((user) => user.uid === uid && uid !== 0)
  return owner ? tryAccount(files, owner) : { problem: 'the checkout belongs to root' }
}

async function tryAccount(files: Files, { uid, gid }: { uid: number; gid: number }): Promise<Attempt> {
  const attempt = { prefix: [], account: { uid, gid } }
  const problem = await findProblem(files, attempt)
  return problem === undefined ? attempt : { problem: `the user ${uid} cannot run it (${problem})` }
}

async function tryNamespace(files: Files): Promise<Attempt> {
  const user = await findUser(({ uid }) => uid !== 0)
  if (!user) return { problem: 'a user namespace needs a named user, and /etc/passwd has none' }
  const attempt = { prefix: ['unshare', '--user', `--map-user=${user.uid}`, `--map-group=${user.gid}`, '--'] }
  const problem = await findProblem(files, attempt)
  return problem === undefined ? attempt : { problem: `a user namespace does not work (${problem})` }
}

/** Accesses the files as the account. Only a trial covers all permissions: mode bits are not the only ones. */
async function findProblem(
  { directory, programs }: Files,
  { prefix, account }: PostgresAccount,
): Promise<string | undefined> {
  const script = `
    const { accessSync, constants } = require('node:fs')
    const [directory, ...programs] = process.argv.slice(1)
    accessSync(directory, constants.X_OK)
    for (const program of programs) accessSync(program, constants.R_OK)
    if (process.geteuid() === 0) throw new Error('it would still be root')`
  const [command = '', ...parameters] = [...prefix, process.execPath, '--eval', script, dirname(directory), ...programs]
  try {
    await run(command, parameters, { ...account, env: { PATH: process.env.PATH }, timeout: 20_000 })
    return undefined
  } catch (error) {
    return firstLine(error)
  }
}

async function findUser(matches: (user: { name: string; uid: number; gid: number }) => boolean) {
  const lines = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return lines
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name, , uid, gid]) => ({ name: name!, uid: Number(uid), gid: Number(gid) }))
    .find(matches)
}

function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

async function remedies({ directory, programs }: Files): Promise<string[]> {
  const closed = new Set<string>()
  for (const path of [directory, process.execPath, ...programs]) {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if (((await stat(folder)).mode & 0o001) === 0) closed.add(folder)
    }
  }
  return [
    ...(closed.size > 0 ? [`allow other users to enter these folders: chmod o+x ${[...closed].join(' ')}`] : []),
    'run it as an ordinary user who owns the checkout',
    'allow user namespaces (in Docker: --security-opt seccomp=unconfined)',
    'set DATABASE_URL to a PostgreSQL server of your own',
  ]
}

/** The line of a failed command's output with its error. */
function firstLine(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string }
  const lines = stderr.split('\n').filter((line) => /\S/.test(line))
  return lines.find((line) => /^\w*Error: /.test(line)) ?? lines[0] ?? message
}
