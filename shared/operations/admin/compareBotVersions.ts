import { closedObject } from '../../schema.ts'
import { diffLines, maxCharacters, maxLines } from '../../code/line-diff.ts'
import { ApiError, notFound } from '../../errors.ts'
import { botVersion, toBotVersion } from '../../models/bot-version.ts'
import { compareFlows } from '../../flows/compare-flows.ts'
import { operation } from '../../rpc/operation.ts'
import { findContents } from '../../store/bot-versions.ts'
import { findOwnBot, findOwnVersion } from './find-version.ts'

const lines = { type: 'array', items: { type: 'string' } } as const

export const compareBotVersions = operation({
  name: 'compareBotVersions',
  description:
    'Compares the source and the flows of a version with those of the deployed version, or of another version.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/versions/{versionId}/compare',
  access: 'developer',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  input: closedObject(
    { id: { type: 'string' }, versionId: { type: 'string' } },
    { from: { type: 'string', description: 'The version to compare with; default: the deployed version.' } },
  ),
  output: closedObject({
    from: botVersion,
    to: botVersion,
    changes: {
      type: 'array',
      description: 'The changes from top to bottom; empty when the sources are equal.',
      items: closedObject({
        fromLine: { type: 'integer', description: 'The first line of the change in `from`, counted from 1.' },
        toLine: { type: 'integer', description: 'The first line of the change in `to`, counted from 1.' },
        removed: lines,
        added: lines,
      }),
    },
    flows: {
      ...closedObject({ added: lines, removed: lines, changed: lines }),
      description: 'The ids of the flows that differ. Layouts are not compared.',
    },
  }),

  async handle(context, { id, versionId, from }) {
    const { db } = context
    const bot = await findOwnBot(context, id)
    const fromId = from ?? bot.version_id
    if (fromId === null) throw notFound('Deployed version', 'the bot has no version to compare with')
    const rows = [await findOwnVersion(db, id, fromId), await findOwnVersion(db, id, versionId)] as const
    const [before, after] = [await findContents(db, id, fromId), await findContents(db, id, versionId)]
    const changes = diffLines(before?.source ?? '', after?.source ?? '')
    if (!changes) {
      throw new ApiError(
        'LimitExceeded',
        `The versions are too large to compare: at most ${maxLines} lines each, and ${maxCharacters} characters that differ. ` +
          'Fetch both with getBotVersion and compare their code',
      )
    }
    return {
      from: toBotVersion(rows[0]),
      to: toBotVersion(rows[1]),
      changes,
      flows: compareFlows(before?.flows, after?.flows),
    }
  },
})
