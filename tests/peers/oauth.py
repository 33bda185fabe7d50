"""Checks avert's tokens with libraries that others wrote: two OAuth clients get one, a JWT library checks it against the published key.

Usage: oauth.py BASE_URL CLIENT_ID CLIENT_SECRET. Ends with 0 where everything holds.
"""

import json
import os
import sys
import urllib.request

import jwt
from authlib.integrations.requests_client import OAuth2Session
from oauthlib.oauth2 import BackendApplicationClient
from oauthlib.oauth2.rfc6749.errors import InvalidClientError, UnsupportedGrantTypeError
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session as Session

base, client_id, client_secret = sys.argv[1:4]
token_url = f"{base}/auth/token"
# The server of the test answers plain HTTP on this machine.
os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"


def check(token):
    """Everything that a resource server would check of a token."""
    assert token["token_type"] == "Bearer" and token["expires_in"] == 600, token
    keys = jwt.PyJWKClient(f"{base}/.well-known/jwks.json")
    key = keys.get_signing_key_from_jwt(token["access_token"])
    claims = jwt.decode(
        token["access_token"],
        key,
        algorithms=["EdDSA"],
        issuer="avert",
        audience=jwt.decode(token["access_token"], options={"verify_signature": False})["aud"],
        options={"require": ["exp", "iat", "iss", "sub", "jti"]},
    )
    assert claims["sub"] == client_id and claims["scope"] == "alerts", claims
    assert claims["aud"].startswith("avert:sandbox:"), claims
    assert claims["exp"] - claims["iat"] == 600, claims
    try:
        head, body, signature = token["access_token"].split(".")
        swapped = "B" if signature[0] == "A" else "A"
        jwt.decode(f"{head}.{body}.{swapped}{signature[1:]}", key, algorithms=["EdDSA"], options={"verify_aud": False})
    except jwt.InvalidSignatureError:
        return
    raise AssertionError("a changed signature was taken")


# requests-oauthlib: credentials in the form, then as Basic.
session = Session(client=BackendApplicationClient(client_id=client_id))
check(session.fetch_token(token_url, client_secret=client_secret, include_client_id=True))
check(session.fetch_token(token_url, auth=HTTPBasicAuth(client_id, client_secret)))
page = session.get(f"{base}/api/v1/alerts")
assert page.status_code == 200 and page.json()["total"] == 0, page.text

# Authlib: the same.
for method in ["client_secret_post", "client_secret_basic"]:
    session = OAuth2Session(client_id, client_secret, token_endpoint_auth_method=method)
    check(session.fetch_token(token_url, grant_type="client_credentials"))
    assert session.get(f"{base}/api/v1/alerts").status_code == 200

# Refusals are read as what they are.
session = Session(client=BackendApplicationClient(client_id=client_id))
try:
    session.fetch_token(token_url, client_secret="wrong", include_client_id=True)
    raise AssertionError("a wrong secret got a token")
except InvalidClientError as error:
    assert error.description, error
client = BackendApplicationClient(client_id=client_id)
client.grant_type = "password"
try:
    Session(client=client).fetch_token(token_url, client_secret=client_secret, include_client_id=True)
    raise AssertionError("another grant type got a token")
except UnsupportedGrantTypeError:
    pass

with urllib.request.urlopen(f"{base}/.well-known/jwks.json") as answer:
    assert [key["kty"] for key in json.load(answer)["keys"]] == ["OKP"]
print("tokens hold before", jwt.__name__, jwt.__version__, "requests-oauthlib and authlib")
