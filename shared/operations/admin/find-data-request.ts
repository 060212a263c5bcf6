import type { Context } from '../../context.ts'
import { notFound } from '../../errors.ts'
import type { DescribedDataRequestRow } from '../../models/data-request.ts'
import type { Administrator } from '../../rpc/caller.ts'
import { findDataRequest } from '../../store/data-requests.ts'

/** @throws ApiError `ResourceNotFound` when the caller's workspace has no such data request */
export async function findOwnDataRequest(
  { db, caller }: Context & { caller: Administrator },
  id: string,
): Promise<DescribedDataRequestRow> {
  const row = await findDataRequest(db, caller.workspaceId, id)
  if (!row) throw notFound(`Data request '${id}'`)
  return row
}
