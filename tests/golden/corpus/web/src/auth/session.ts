/** Keeps the bearer token of the person at the screen; it lives in memory, so closing the tab logs out. */

interface Session {
  token: string;
  role: string;
  expiresAt: number;
}

let session: Session | null = null;
let refreshing: Promise<void> | null = null;

export function startSession(token: string): void {
  const [payload] = token.split(".");
  const claims = JSON.parse(atob((payload ?? "").replace(/-/g, "+").replace(/_/g, "/")));
  session = { token, role: claims.role, expiresAt: claims.exp * 1000 };
}

export function currentToken(): string {
  if (session === null || session.expiresAt <= Date.now()) {
    return "";
  }
  return session.token;
}

/** Gets a new token; callers that ask at the same time share one request. */
export function refreshSession(): Promise<void> {
  refreshing ??= fetch("session/refresh", { method: "POST", credentials: "include" })
    .then(async (response) => {
      if (!response.ok) {
        throw new Error("the session is over");
      }
      startSession((await response.json()).token);
    })
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

export function endSession(): void {
  session = null;
}
