# syntax=docker/dockerfile:1

# Wheels of exactly the locked packages, each checked against its hash, and one of ours.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m pip wheel --no-cache-dir --require-hashes --no-deps --wheel-dir /wheels --requirement requirements.lock
COPY pyproject.toml README.md ./
COPY worker worker
COPY prompts prompts
RUN python -m venv /build-tools \
    && /build-tools/bin/pip install --no-cache-dir --no-index --find-links /wheels hatchling \
    && /build-tools/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
    && python -m venv /opt/afterturn \
    && /opt/afterturn/bin/pip install --no-cache-dir --no-index --find-links /wheels afterturn

FROM python:3.12-slim-bookworm
COPY --from=build /opt/afterturn /opt/afterturn
ENV PATH=/opt/afterturn/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    LITELLM_LOCAL_MODEL_COST_MAP=True
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin afterturn
USER 10001
ENTRYPOINT ["afterturn"]
CMD ["worker"]
