import type { Deployed } from '../../../cli/hub/deploy-project.ts'
import { kinds, type Kind, type Project } from './prepare-projects.ts'
import type { Trial } from './try-integration.ts'

/** The outcome for one project. */
export interface Row extends Deployed {
  project: Project
  /** Of an integration that was deployed. */
  trial?: Trial
}

/**
 * Bots whose configuration of an integration is that of an earlier version, by the history of the repository: `bp build` does
 * not check types, and the version of the checkout has no such fields.
 */
const writtenFor: Record<string, string> = {
  'drop-weaver': 'dropbox 1.2.2',
  'hit-looper': 'zendesk 2.8.6',
  notionaut: 'notion 2.2.3',
  synchrotron: 'dropbox 1.2.2',
}

/** Reasons for which code refuses values of no account: by its own checks, without a login, or after a refused request. */
const refusesValues =
  /auth|credential|token|api.?key|log in|log into|configured|configuration|wizard|secret|state '\w+' of|validate|reachable|connect to|account|network error/i

/** Whether an integration fails for want of an account: it asked its service, or refused the values. */
export function needsAccount({ reason, askedHosts }: Trial): boolean {
  return askedHosts.length > 0 || refusesValues.test(reason)
}

/** The outcome of a project, in one line. */
export function describe({ problem, trial }: Row): string {
  if (problem !== '') return problem
  if (!trial) return 'deployed'
  const registration = trial.registered ? 'registers' : `does not register: ${trial.reason}`
  const hosts = trial.askedHosts.length > 0 ? `; asked ${trial.askedHosts.join(', ')}` : ''
  return `deployed; ${registration}; its handler ${trial.handled ? 'runs' : 'does not run'}${hosts}`
}

/** The lines of Markdown for all projects. */
export function tableOf(version: string, rows: Row[]): string[] {
  const of = (kind: Kind) => rows.filter(({ project }) => project.kind === kind)
  const deployed = (kind: Kind) => `${of(kind).filter(({ problem }) => problem === '').length} of ${of(kind).length}`
  const tried = of('integrations').flatMap(({ trial }) => trial ?? [])
  const failing = tried.filter(({ registered }) => !registered)
  const accounts = failing.filter(needsAccount).length
  return [
    `${new Date().toISOString().slice(0, 10)}, \`bp\` ${version}: ${kinds.map((kind) => `${deployed(kind)} ${kind}`).join(', ')} ` +
      `are deployed as they are. Of the integrations, ${tried.length - failing.length} register with values of no account, ` +
      `${accounts} need an account, the others (${failing.length - accounts}) fail for another reason, and the handler of ` +
      `${tried.filter(({ handled }) => handled).length} runs.`,
    '',
    '| Project | Bundle | Deployed | `register` | Handler | First start | Hosts |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map((row) => `| ${cellsOf(row).join(' | ')} |`),
  ]
}

function cellsOf({ project, bytes, problem, trial, literalHosts }: Row): string[] {
  const { kind, name } = project
  const older = problem !== '' && writtenFor[name] ? `written for ${writtenFor[name]}: ` : ''
  return [
    `${kind}/${name}`,
    bytes > 0 ? `${(bytes / 1e6).toFixed(1)} MB` : '–',
    problem === '' ? 'yes' : inCell(older + problem),
    trial ? registrationOf(trial) : '–',
    trial ? (trial.handled ? 'runs' : 'no') : '–',
    trial ? `${Math.round(trial.milliseconds)} ms` : '–',
    kind === 'integrations' ? hostsOf(trial?.askedHosts ?? [], literalHosts) : '–',
  ]
}

function registrationOf(trial: Trial): string {
  if (trial.registered) return 'yes'
  return `${needsAccount(trial) ? 'needs an account' : 'other'}: ${inCell(trial.reason)}`
}

/** The hosts that the code asked for, and in brackets others that stand in its text. */
function hostsOf(asked: string[], literal: string[]): string {
  const others = literal.filter((host) => !asked.includes(host)).slice(0, 6)
  const cell = [...asked, ...(others.length > 0 ? [`(${others.join(', ')})`] : [])].join(' ')
  return cell === '' ? '–' : cell
}

/** A text in a cell of a table. */
function inCell(text: string): string {
  return text.replaceAll(/[|`\n\r]/g, ' ').slice(0, 200)
}
