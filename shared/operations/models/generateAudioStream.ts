import { generateAudioChunk, generateAudioInput, type GenerateAudioChunk } from '../../models/speech.ts'
import { operation } from '../../rpc/operation.ts'
import { inTriples } from './in-triples.ts'
import { cancellable, toLines } from './lines-of.ts'
import { failedCall } from './report-call.ts'
import { speakStreamed } from './speak-recorded.ts'

export const generateAudioStream = operation({
  name: 'generateAudioStream',
  description:
    'Like generateAudio, with the audio as the model makes it: a part in base64 on each line. The last one is `finished`, and ' +
    'has the address of the file and the metadata. An error before the first part is an answer with its status; one within is ' +
    'in the last line.',
  method: 'POST',
  path: '/v2/cognitive/generate-audio-stream',
  access: 'bot',
  stability: 'experimental',
  errors: ['Runtime', 'ReferenceNotFound', 'PaymentRequired', 'RateLimited', 'QuotaExceeded'],
  streamsLines: true,
  awaitsWorker: true,
  isRecordedByInput: true,
  input: generateAudioInput,
  output: generateAudioChunk,

  async handle(context, input) {
    const { signal, cancel } = cancellable(context)
    const pieces = inTriples(await speakStreamed(context, input, signal))
    const { length: characterCount } = input.input
    const { voice = '', format = 'mp3' } = input
    return toLines(
      context,
      pieces,
      {
        piece: (part): GenerateAudioChunk => ({ audio: part.toString('base64'), finished: false }),
        last: ({ url, metadata }) => ({ audioUrl: url, metadata: { ...metadata, characterCount }, finished: true }),
        failed: ({ message: error }, cause) => ({
          audioUrl: null,
          metadata: { ...failedCall(cause), voice, format, fileId: '', characterCount },
          finished: true,
          error,
        }),
      },
      cancel,
    )
  },
})
