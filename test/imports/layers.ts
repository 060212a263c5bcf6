/**
 * The rooms of `shared/` in their order: each imports itself and those before it. Rooms in one line do not build on each
 * other in any fixed order.
 */
export const layers: string[][] = [
  [
    ...[
      'errors',
      'schema',
      'ids',
      'secrets',
      'batch',
      'byte-budget',
      'sliding-window-counter',
      'recurrence',
      'units',
    ].map((name) => `shared/${name}.ts`),
    'shared/json/',
  ],
  ['shared/config/'],
  ['shared/telemetry/'],
  ['shared/models/'],
  ['shared/flows/'],
  ['shared/embeddings/', 'shared/llm/'],
  ['shared/store/'],
  ['shared/connectivity/'],
  ['shared/queue/'],
  ['shared/signals/signals.ts', 'shared/signals/await-outcome.ts', 'shared/signals/waiting-requests.ts'],
  ['shared/installation-cache.ts'],
  ['shared/context.ts'],
  ['shared/signals/after-commit.ts'],
  ['shared/rpc/'],
  ['shared/monitoring/', 'shared/code/', 'shared/process/'],
  ['shared/integrations/', 'shared/files/', 'shared/tables/'],
  ['shared/messaging/'],
  ['shared/operations/'],
  ['shared/router.ts'],
  ['shared/dispatch.ts', 'shared/protocol-errors.ts'],
  ['shared/openapi/'],
  ['shared/chat-client/'],
]
