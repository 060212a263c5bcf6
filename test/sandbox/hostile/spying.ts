/**
 * Functions for hostile code, as their source: `work(context)` has the kernel do much of what it can do; `look(...values)`
 * is for what the idea puts in its way. `looks` counts, and `caught` has what belongs to the kernel alone.
 * `spyOn(object)` replaces all its methods by ones that look, until `stopSpying()`.
 */
export const spying = `
  const kernelNames = ['hostCalls', 'shared', 'limits', 'resume', 'onQuiet', 'pendingOperations', 'settle', 'makeNow', 'post',
    'run', 'send', 'sendNow', 'request', 'stages', 'streamPrefix', 'thrown', 'isOver', 'logLines']
  const { hasOwn, keys } = Object
  const isKernels = (value) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return false
    for (let index = 0; index < kernelNames.length; index += 1) if (hasOwn(value, kernelNames[index])) return true
    return false
  }
  let caught = ''
  let looks = 0
  const look = (...values) => {
    looks += 1
    for (let index = 0; index < values.length; index += 1) if (isKernels(values[index])) caught += keys(values[index]) + ' | '
  }

  const { apply, construct } = Reflect
  const undos = []
  let isLooking = false
  const lookOnce = (self, values) => {
    if (isLooking) return
    isLooking = true
    try { look(self, ...values) } finally { isLooking = false }
  }
  const spyOn = (object) => {
    for (const key of Reflect.ownKeys(object)) {
      const { value, writable } = Object.getOwnPropertyDescriptor(object, key)
      if (typeof value !== 'function' || !writable || key === 'constructor') continue
      undos.push(() => { object[key] = value })
      object[key] = function (...values) {
        lookOnce(new.target ? undefined : this, values)
        const result = new.target ? construct(value, values, new.target) : apply(value, this, values)
        lookOnce(undefined, [result])
        return result
      }
    }
  }
  const stopSpying = () => { for (let index = undos.length - 1; index >= 0; index -= 1) undos[index]() }

  const work = async ({ event, client, state, logger }) => {
    logger.info('%s %d %j', 'text', 1, { a: [1] }, new Map([[1, 2]]), new Date(0))
    console.error(new Error('shown'))
    const found = client.getUser({ id: event.userId })
    const missing = client.getUser({ id: 'nobody' })
    await found
    await missing.then(() => {}, () => {})
    await new Promise((resolve) => setTimeout(resolve, 1))
    await new Promise((resolve) => queueMicrotask(resolve))
    const stream = client.streamMessage(event.conversationId)
    await stream.write('x')
    await stream.abort()
    state.conversation.worked = true
  }`
