import { operation } from '../../operation.ts'
import { listMemberships } from '../../store/accounts.ts'

export const listWorkspaces = operation({
  name: 'listWorkspaces',
  description: 'Lists the workspaces that the token’s account is a member of. Needs no x-workspace-id.',
  method: 'GET',
  path: '/v1/admin/workspaces',
  access: 'account',
  input: { type: 'object', additionalProperties: false, properties: {} },
  output: {
    type: 'object',
    additionalProperties: false,
    required: ['workspaces', 'meta'],
    properties: {
      workspaces: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'name', 'createdAt', 'updatedAt'],
          properties: {
            id: { type: 'string' },
            name: { type: 'string' },
            createdAt: { type: 'string', format: 'date-time' },
            updatedAt: { type: 'string', format: 'date-time' },
          },
        },
      },
      meta: { type: 'object', additionalProperties: false, properties: {} },
    },
  },

  async handle({ db, caller }) {
    const rows = await listMemberships(db, caller.accountId)
    return {
      workspaces: rows.map((row) => ({
        id: row.id,
        name: row.name,
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
      })),
      meta: {},
    }
  },
})
