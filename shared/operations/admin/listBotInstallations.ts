import { eventStatuses } from '../../models/event.ts'
import { installation } from '../../models/installation.ts'
import { operation } from '../../rpc/operation.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { installationStates, type InstallationState, type RegistrationOutcome } from '../../store/bot-installations.ts'
import { schedules } from '../../models/tables.ts'
import { findOwnBot } from './find-version.ts'

const maxOutcomes = 10

const time = { type: 'string', format: 'date-time' } as const

const registration = closedObject(
  {
    eventId: { type: 'string' },
    type: { enum: ['register', 'unregister'] },
    status: { enum: eventStatuses },
    failureReason: { type: 'string', nullable: true },
    createdAt: time,
  },
  { startedAt: time, endedAt: time, milliseconds: { type: 'number', description: 'Duration of the call.' } },
)

const installed = closedObject(
  {
    id: { type: 'string' },
    alias: { type: 'string' },
    name: { type: 'string' },
    enabled: { type: 'boolean' },
    status: installation.properties.status,
    statusReason: { type: 'string', nullable: true },
    registerFailures: { type: 'integer', description: 'The number of failures since the last success.' },
    registrations: { type: 'array', items: registration, description: 'The last ten registrations, the newest first.' },
  },
  {
    version: { type: 'string' },
    integrationId: { type: 'string', description: 'The id of the integration’s version; absent for the chat.' },
    disabledReason: {
      type: 'string',
      description: 'Why the platform suspended the integration’s code; absent while it runs.',
    },
    identifier: { type: 'string' },
    canAuthorize: {
      type: 'boolean',
      description: 'Whether `authorizeInstallation` makes a link at which a person authorizes the integration.',
    },
    schedule: { enum: schedules, description: 'The schedule of calls of register(), if any.' },
    nextRegisterAt: { ...time, description: 'The time of the next call of register().' },
  },
)

export const listBotInstallations = operation({
  name: 'listBotInstallations',
  description: 'Lists the installations of a bot, with the schedule of their register() and its last ten outcomes.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/installations',
  access: 'viewer',
  stability: 'experimental',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' } }),
  output: closedObject({ installations: { type: 'array', items: installed } }),

  async handle(context, { id }) {
    await findOwnBot(context, id)
    const rows = await installationStates(context.db, id, maxOutcomes)
    return { installations: rows.map(toInstalled) }
  },
})

function toInstalled(row: InstallationState): Infer<typeof installed> {
  return {
    id: row.id,
    alias: row.alias,
    name: row.name ?? row.integration,
    ...(row.version !== null && { version: row.version }),
    ...(row.integration_id !== null && { integrationId: row.integration_id }),
    enabled: row.enabled,
    status: row.status,
    statusReason: row.status_reason,
    ...(row.disabled_reason !== null && { disabledReason: row.disabled_reason }),
    ...(row.has_link && { canAuthorize: true }),
    ...(row.identifier !== null && { identifier: row.identifier }),
    ...(row.schedule !== null && { schedule: row.schedule }),
    ...(row.next_register_at && { nextRegisterAt: row.next_register_at.toISOString() }),
    registerFailures: row.register_failures,
    registrations: row.registrations.map(toRegistration),
  }
}

function toRegistration(outcome: RegistrationOutcome): Infer<typeof registration> {
  return {
    eventId: outcome.id,
    type: outcome.type,
    status: outcome.status,
    failureReason: outcome.failure_reason,
    createdAt: toIso(outcome.created_at),
    ...(outcome.started_at !== null && { startedAt: toIso(outcome.started_at) }),
    ...(outcome.ended_at !== null && { endedAt: toIso(outcome.ended_at) }),
    ...(outcome.took !== null && { milliseconds: outcome.took }),
  }
}

function toIso(text: string): string {
  return new Date(text).toISOString()
}
