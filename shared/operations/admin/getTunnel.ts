import { newTunnelKey } from '../../models/tunnel.ts'
import { operation } from '../../rpc/operation.ts'
import { closedObject } from '../../schema.ts'

export const getTunnel = operation({
  name: 'getTunnel',
  description:
    'Returns the address at which `bp dev` opens a tunnel of the workspace to the developer’s machine. It holds a key ' +
    'of the developer, which is good for tunnels only.',
  method: 'GET',
  path: '/v1/admin/tunnel',
  access: 'developer',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({
    url: { type: 'string', description: 'The value of `--tunnel-url`, or of `BP_TUNNEL_URL`.' },
    expiresAt: { type: 'string', format: 'date-time' },
  }),

  async handle({ caller, config }) {
    const { key, expiresAt } = newTunnelKey(config.secret, caller)
    return { url: `${new URL(config.http.baseUrl).origin}/tunnels/${key}`, expiresAt: expiresAt.toISOString() }
  },
})
