import { currentToken, refreshSession } from "../auth/session";

/** What the server says went wrong; `code` is stable, `message` is for people. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}

export interface RequestOptions {
  method?: "GET" | "POST" | "DELETE";
  body?: unknown;
  signal?: AbortSignal;
}

const BASE = import.meta.env.VITE_API_URL ?? "http://localhost:8080";

/** Sends a request with the bearer token. A 401 refreshes the session once and tries again. */
export async function request<T>(path: string, options: RequestOptions = {}, retried = false): Promise<T> {
  const response = await fetch(`${BASE}/${path}`, {
    method: options.method ?? "GET",
    headers: { Authorization: `Bearer ${currentToken()}`, "Content-Type": "application/json" },
    body: options.body === undefined ? undefined : JSON.stringify(options.body),
    signal: options.signal,
  });
  if (response.status === 401 && !retried) {
    await refreshSession();
    return request<T>(path, options, true);
  }
  if (!response.ok) {
    throw await toApiError(response);
  }
  return (await response.json()) as T;
}

async function toApiError(response: Response): Promise<ApiError> {
  const problem = await response.json().catch(() => ({}));
  return new ApiError(
    response.status,
    problem.code ?? "unknown",
    problem.message ?? response.statusText,
    problem.details?.retry_after,
  );
}
