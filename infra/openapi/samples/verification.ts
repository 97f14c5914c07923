/**
 * Samples that verify the signature of a webhook (Standard Webhooks): a server in each language, and a check of a stored
 * request with openssl. They read the secret from `WEBHOOK_SECRET`.
 */
import type { CodeSample } from './code-samples.ts';

const shell = `# ID, TIMESTAMP and SIGNATURE are the headers webhook-id, webhook-timestamp and webhook-signature.
# body.json is the body, byte by byte.
key=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 --decode | od -An -v -tx1 | tr -d ' \\n')
expected="v1,$({ printf %s "$ID.$TIMESTAMP."; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)"
age=$(($(date +%s) - TIMESTAMP))
[ "\${age#-}" -le 300 ] || { echo 'too old, or too new'; exit 1; }
case " $SIGNATURE " in
  *" $expected "*) echo 'valid' ;;
  *) echo 'not valid'; exit 1 ;;
esac
`;

const python = `import base64
import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))


def is_valid(headers, body):
    try:
        age = abs(time.time() - int(headers["webhook-timestamp"]))
    except (TypeError, ValueError):
        return False
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split(" ")
    return age <= 300 and any(hmac.compare_digest(expected.encode(), one.encode()) for one in given)


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(204 if is_valid(self.headers, body) else 401)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Webhook).serve_forever()
`;

const javascript = `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ''), 'base64');

const isValid = (headers, body) => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  return age <= 300 && signatures.split(' ').some((one) => {
    const given = Buffer.from(one.replace(/^v1,/, ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};

createServer(async (request, response) => {
  const body = await buffer(request);
  response.writeHead(isValid(request.headers, body) ? 204 : 401).end();
}).listen(process.env.PORT ?? 8080, '127.0.0.1');
`;

const go = `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isValid(key []byte, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(time.Since(time.Unix(seconds, 0)).Seconds()) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil {
		log.Fatal(err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(
		func(response http.ResponseWriter, request *http.Request) {
			body, err := io.ReadAll(request.Body)
			if err != nil || !isValid(key, request.Header, body) {
				response.WriteHeader(http.StatusUnauthorized)
				return
			}
			response.WriteHeader(http.StatusNoContent)
		},
	)))
}
`;

export const verification: readonly [CodeSample, ...CodeSample[]] = [
  { lang: 'Shell', label: 'openssl', source: shell },
  { lang: 'Python', label: 'Python', source: python },
  { lang: 'JavaScript', label: 'JavaScript', source: javascript },
  { lang: 'Go', label: 'Go', source: go },
];
