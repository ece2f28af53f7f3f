# A policy as a service, by a user without rights. From the repository's root:
#   docker build -f deploy/serve.Dockerfile -t rolecast-serve .
#   docker run --rm --shm-size 1g -p 127.0.0.1:8000:8000 -v "$PWD/runs/hunt:/policy:ro" rolecast-serve
# Packages have the versions of constraints.txt; serve.Dockerfile.dockerignore says what is copied.
FROM python:3.11.9-slim-bookworm

COPY . /source
RUN pip install --no-cache-dir --constraint /source/constraints.txt "/source[serve]" \
    && rm -r /source \
    && useradd --create-home --uid 10001 rolecast

USER 10001
WORKDIR /home/rolecast
EXPOSE 8000
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
# Inside of the container HTTP answers all; `docker run -p` above publishes it to this machine alone.
CMD ["rolecast", "serve", "/policy", "--host", "0.0.0.0"]
