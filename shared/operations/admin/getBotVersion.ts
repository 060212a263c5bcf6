import { flowLayout } from '../../flows/flow.ts'
import { botVersionWithCode, toBotVersion } from '../../models/bot-version.ts'
import { closedObject, type Infer } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { findContents } from '../../store/bot-versions.ts'
import { findOwnBot, findOwnVersion } from './find-version.ts'

const versionWithFlows = {
  ...botVersionWithCode,
  properties: {
    ...botVersionWithCode.properties,
    flows: {
      type: 'array',
      description: 'The flows, if the version has some; the text of a function in code stands as its expression.',
      items: { type: 'object' },
    },
    hasFlowsInCode: {
      type: 'boolean',
      description: 'Whether the code exports the flows; otherwise they are beside it.',
    },
    sourceMap: { type: 'string', description: 'The source map of the code, as uploaded, if it was.' },
    layouts: {
      type: 'object',
      description: 'The positions of nodes in pictures of the flows, by flow and node.',
      additionalProperties: flowLayout,
    },
  },
} as const

type Contents = Pick<Infer<typeof versionWithFlows>, 'files' | 'flows' | 'layouts'>

export const getBotVersion = operation({
  name: 'getBotVersion',
  description: 'Returns a version of a bot’s code, with the uploaded code, its source files, and the flows.',
  method: 'GET',
  path: '/v1/admin/bots/{id}/versions/{versionId}',
  access: 'developer',
  errors: ['ResourceNotFound'],
  input: closedObject({ id: { type: 'string' }, versionId: { type: 'string' } }),
  output: closedObject({ url: { type: 'string', description: 'Where this is.' }, version: versionWithFlows }),

  async handle(context, { id, versionId }) {
    const { db, config } = context
    await findOwnBot(context, id)
    const row = await findOwnVersion(db, id, versionId)
    const found = await findContents(db, id, versionId)
    const { source: code = '', given_map: sourceMap, has_flows_in_code: hasFlowsInCode = false, ...kept } = found ?? {}
    const contents = Object.entries(kept).flatMap(([name, text]) => (text === null ? [] : [[name, JSON.parse(text)]]))
    const url = `${config.http.baseUrl}/v1/admin/bots/${id}/versions/${versionId}`
    const version = { ...toBotVersion(row), code, hasFlowsInCode, ...(Object.fromEntries(contents) as Contents) }
    return { url, version: { ...version, ...(typeof sourceMap === 'string' && { sourceMap }) } }
  },
})
