import { describe, expect, test } from 'vitest'
import { findOperation } from '#shared/router.ts'

describe('a path', () => {
  test.each([
    ['GET', '/chat/w/users/me', 'getUser', { webhookId: 'w' }],
    ['GET', '//chat/w//users/me/', 'getUser', { webhookId: 'w' }],
    ['POST', '/chat/w/users/get-or-create', 'getOrCreateUser', { webhookId: 'w' }],
    ['GET', '/chat/w/conversations/a%2Fb%5Cc', 'getConversation', { webhookId: 'w', id: 'a/b\\c' }],
    ['GET', '/chat/w/conversations/a/b/listen', 'listenConversation', { webhookId: 'w', id: 'a/b' }],
    ['GET', '/chat/w/conversations/c/messages', 'listMessages', { webhookId: 'w', conversationId: 'c' }],
    ['POST', '/v1/chat/conversations/get-or-create', 'getOrCreateConversation', {}],
    ['GET', '/v1/chat/states/user/u/n', 'getState', { type: 'user', id: 'u', name: 'n' }],
    ['PUT', '/v1/admin/bots/b', 'updateBot', { id: 'b' }],
    ['GET', '/v1/admin/bots/baks', 'listBotApiKeys', {}],
    ['POST', '/v1/admin/integrations/validate', 'validateIntegrationCreation', {}],
    ['PUT', '/v1/admin/integrations/i/validate', 'validateIntegrationUpdate', { id: 'i' }],
    ['GET', '/v1/admin/integrations/i/validate', 'getIntegrationByName', { name: 'i', version: 'validate' }],
    ['GET', '/v1/admin/integrations/w%2Fi/%3C1.0.0', 'getIntegrationByName', { name: 'w/i', version: '<1.0.0' }],
  ])('%s %s leads to %s', (method, path, name, parameters) => {
    const found = findOperation(method, path)
    expect(found.operation.name).toBe(name)
    expect(found.parameters).toEqual(parameters)
  })

  test.each(['/', '/v1', '/v1/chat/nothing', '/chat/w', '/v1/admin/bots/b/c', '/v1.admin.bots'])(
    '%s leads nowhere',
    (path) => {
      expect(() => findOperation('GET', path)).toThrow(expect.objectContaining({ type: 'ResourceNotFound' }))
    },
  )

  test('says which methods it takes', () => {
    expect(() => findOperation('PATCH', '/v1/admin/bots')).toThrow(
      /takes GET, POST, not PATCH|takes POST, GET, not PATCH/,
    )
  })
})
