import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    'use strict'
    const refuses = (change) => { try { return Reflect.apply(change, undefined, []) === false } catch (error) { return error instanceof TypeError } }
    const changes = [
      () => Reflect.set(client, 'createMessage', null), () => Reflect.defineProperty(client, 'createMessage', { value: null }), () => Reflect.setPrototypeOf(client, null),
      () => Reflect.defineProperty(Object.getPrototypeOf(client), 'createMessage', { value: null }), () => Reflect.deleteProperty(Object.getPrototypeOf(client), 'createMessage'),
      () => Reflect.setPrototypeOf(Object.getPrototypeOf(client), {}), () => Reflect.set(logger, 'info', null), () => Reflect.deleteProperty(logger, 'info'), () => Reflect.preventExtensions({}) && false,
    ]
    await say(changes.map(refuses).join())`,
  outcome: 'done',
  replies: ['true,true,true,true,true,true,true,true,true'],
})
