import type { Request, Response } from 'express'
import type { Context } from '#shared/context.ts'
import { receiveUpload } from '#shared/files/receive-upload.ts'
import { addLogFields } from '#shared/telemetry/log-scope.ts'
import { endUnread } from '../end-unread.ts'
import { announcedBytes, type Overload } from '../overload.ts'
import { chunksInTime } from './chunks-in-time.ts'

/**
 * `PUT /files/upload/{token}`: stores the body as the content of the file whose upsert made the address, and answers when it
 * is committed. The body is never held whole. An address that is not valid is refused before the body is read.
 */
export async function answerUpload(
  context: Context,
  overload: Overload,
  request: Request<{ token: string }>,
  response: Response,
): Promise<void> {
  addLogFields({ operation: 'files.upload' })
  const announced = announcedBytes(request)
  try {
    await receiveUpload(context, {
      token: request.params.token,
      length: announced === Infinity ? undefined : announced,
      open(botId, heldBytes) {
        addLogFields({ botId })
        overload.hold(response, heldBytes, botId)
        return chunksInTime(request, response)
      },
    })
  } catch (error) {
    // A client that has gone gets no answer.
    if (request.destroyed && !request.complete) return
    endUnread(request)
    throw error
  }
  response.status(200).end()
}
