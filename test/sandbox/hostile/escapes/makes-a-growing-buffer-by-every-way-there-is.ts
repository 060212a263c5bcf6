import { hostile } from '../hostile.ts'

export default hostile({
  body: `
    const options = { maxByteLength: 1e9 }
    const ways = [
      () => new ArrayBuffer(1, options), () => new (new Uint8Array(1).buffer.constructor)(1, options), () => new (class extends ArrayBuffer {})(1, options), () => Reflect.construct(ArrayBuffer, [1, options]),
      () => Reflect.construct(ArrayBuffer, [1, options], class extends ArrayBuffer {}), () => new (Object.getPrototypeOf(ArrayBuffer.prototype.slice).constructor('return new ArrayBuffer(1, { maxByteLength: 1e9 })'))(),
      () => new (ArrayBuffer[Symbol.species])(1, options), () => structuredClone(new ArrayBuffer(1, options)), () => new ArrayBuffer({ valueOf: () => 1 }, options), () => new ArrayBuffer(2, options).slice(0, 1),
      () => new Uint8Array(new ArrayBuffer(1, options)).buffer, () => Buffer.alloc(1).buffer, () => new (eval('ArrayBuffer'))(1, options), () => Object.setPrototypeOf(new ArrayBuffer(1, options), ArrayBuffer.prototype),
    ]
    await say(ways.map((way) => { try { return way().resizable } catch (error) { return error.name } }).join())
    await say(['resize', 'transfer', 'transferToFixedLength'].map((name) => typeof new ArrayBuffer(1)[name]).join())
    await say(new ArrayBuffer(8).byteLength)`,
  outcome: 'done',
  replies: [
    'false,false,false,false,false,false,false,false,false,false,false,false,false,false',
    'undefined,undefined,undefined',
    '8',
  ],
})
